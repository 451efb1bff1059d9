/** The commands that work: `run` sends a task to a session, `resume` goes on with one that was interrupted. */
import { type Agent, type AgentRun, type Host, isHoldfastError, type RunResult } from "holdfast";
import type { Command, WorkOptions } from "./arguments.ts";
import { checkFolder, createAssistant } from "./assistant.ts";
import { openDatabase, openExisting } from "./database.ts";
import { quoted, sessionKeyFor } from "./format.ts";
import type { CommandIo } from "./io.ts";
import { type ChosenModel, chooseModel } from "./models.ts";
import { chooseRenderer, type Renderer, type RunHeader } from "./render/index.ts";
import { readSettings, writeSettings } from "./session-settings.ts";
import { exitCodes, UsageError } from "./usage-error.ts";

type RunCommand = Extract<Command, { name: "run" }>;
type ResumeCommand = Extract<Command, { name: "resume" | "release" }>;

/** What is asked when nothing is: sensible in any folder of files. */
const DEFAULT_TASK = "What is this project?";

/** Works on a task; gives the exit code. */
export async function runTask(command: RunCommand, io: CommandIo): Promise<number> {
	const task = command.task ?? DEFAULT_TASK;
	const key = command.session ?? sessionKeyFor(task);
	const setup = prepare(command, key, io);
	const host = openDatabase(command.db);
	const work = startWork(setup, host, command, io);
	try {
		const head = await host.journal.head(key);
		// How a run under way works stays as it is.
		if (head?.openRunId !== undefined && head.holder?.alive === true)
			throw new Error(`Session ${quoted(key)} is running in another process. Wait until it is done.`);
		writeSettings(command.db, key, {
			dir: setup.dir,
			model: setup.model.name,
			allowNetwork: setup.allowNetwork,
		});
		if (command.task === undefined) work.renderer.note(`No task was given, so it is: ${task}`);
		work.renderer.begin(work.header);
		const session = work.agent.session(key);
		if (head?.openRunId !== undefined && head.parked !== true) {
			work.renderer.note("This session has an interrupted run; it is finished first.");
			const earlier = await session.resume();
			if (earlier !== null && (await work.follow(earlier)).outcome === "suspended") return await work.end();
		}
		await work.follow(await session.send(task));
		const code = await work.end();
		if (command.task === undefined && !command.json) io.stdout.write(nextSteps(io));
		return code;
	} finally {
		await work.close();
	}
}

/** Goes on with an interrupted session; gives the exit code. */
export async function resumeSession(command: ResumeCommand, io: CommandIo): Promise<number> {
	const host = openExisting(command.db);
	if (host === undefined) {
		if (command.session !== undefined) throw unknownSession(command.session, command.db);
		return nothingToResume("There are no sessions yet, so there is nothing to resume.", command, io);
	}
	let work: Work | undefined;
	try {
		const key = command.session ?? (await lastInterrupted(host));
		if (key === undefined) {
			return nothingToResume("No session was interrupted, so there is nothing to resume.", command, io);
		}
		const head = await host.journal.head(key);
		if (head === undefined || (head.seq === 0 && head.waiting === 0)) throw unknownSession(key, command.db);
		const setup = prepare(command, key, io);
		work = startWork(setup, host, command, io);
		const session = work.agent.session(key);
		const run = await (command.name === "release" ? session.release() : session.resume());
		if (run === null) {
			return nothingToResume(`Session ${key} has nothing to resume: its last run has ended.`, command, io);
		}
		work.renderer.begin(work.header);
		await work.follow(run);
		return await work.end();
	} finally {
		await (work === undefined ? host.close() : work.close());
	}
}

function nothingToResume(text: string, { json }: ResumeCommand, io: CommandIo): number {
	const end = { type: "end", outcome: "nothing", exitCode: exitCodes.completed, text };
	io.stdout.write(`${json ? JSON.stringify(end) : text}\n`);
	return exitCodes.completed;
}

interface Setup {
	readonly key: string;
	readonly dir: string;
	readonly model: ChosenModel;
	readonly allowNetwork: boolean;
}

/** What was asked for comes first, then how the session worked before, then the defaults. */
function prepare(command: WorkOptions & { readonly db: string }, key: string, io: CommandIo): Setup {
	const before = readSettings(command.db, key);
	const dir = command.dir ?? before?.dir ?? io.folder;
	checkFolder(dir);
	return {
		key,
		dir,
		model: chooseModel(command.model ?? before?.model, io.environment),
		allowNetwork: command.allowNetwork ?? before?.allowNetwork ?? false,
	};
}

interface Work {
	readonly agent: Agent;
	readonly renderer: Renderer;
	readonly header: RunHeader;
	/** Shows a run until it ends or is interrupted. */
	follow(run: AgentRun): Promise<RunResult>;
	/** Shows how the last followed run ended; gives the exit code. */
	end(): Promise<number>;
	close(): Promise<void>;
}

function startWork(setup: Setup, host: Host, command: RunCommand | ResumeCommand, io: CommandIo): Work {
	const agent = createAssistant({ host, ...setup });
	const renderer = chooseRenderer(io.stdout, command.json ? "json" : "text");
	const header = {
		sessionKey: setup.key,
		model: setup.model.name,
		reason: setup.model.reason,
		dir: setup.dir,
	};
	const started = performance.now();
	let active: AgentRun | undefined;
	let last: RunResult | undefined;
	let interrupts = 0;
	const stopListening = io.onInterrupt(() => {
		interrupts++;
		if (interrupts > 1) {
			// What is committed stays; the run is found open and can be resumed.
			io.quit(exitCodes.interrupted);
			return;
		}
		renderer.note("Interrupting; press Ctrl-C again to quit at once.");
		active?.suspend();
	});
	return {
		agent,
		renderer,
		header,
		async follow(run) {
			active = run;
			if (interrupts > 0) run.suspend();
			for await (const event of run.watch()) renderer.event(event);
			last = await run.result();
			active = undefined;
			return last;
		},
		async end() {
			const result = last as RunResult;
			const exitCode = exitCodeOf(result);
			const program = io.environment.npm_lifecycle_event === undefined ? "holdfast" : "npx holdfast";
			const db = command.dbGiven === undefined ? "" : ` --db ${quoted(command.dbGiven)}`;
			const key = quoted(setup.key);
			if (result.error !== undefined && exitCode === exitCodes.failed)
				io.stderr.write(`${describeFailure(result)}\n`);
			renderer.end({
				result,
				exitCode,
				header,
				duration: performance.now() - started,
				resumeCommand: `${program} resume ${key}${db}`,
				showCommand: `${program} show ${key}${db}`,
				continueCommand: `${program} run "…" --session ${key}${db}`,
			});
			return exitCode;
		},
		async close() {
			stopListening();
			await agent.close();
			await host.close();
		},
	};
}

function exitCodeOf(result: RunResult): number {
	if (result.outcome === "completed") return exitCodes.completed;
	// A run that the store could not keep is left open, but it failed here.
	const broken = result.error !== undefined && !/^(?:run_suspended|lease_lost)$/.test(result.error.code);
	return result.outcome === "suspended" && !broken ? exitCodes.interrupted : exitCodes.failed;
}

function describeFailure(result: RunResult): string {
	return `holdfast: ${result.error?.message ?? "The run failed."} (${result.error?.code ?? "run_failed"})`;
}

function unknownSession(key: string, db: string): UsageError {
	return new UsageError(`There is no session "${key}" in ${db}. See: holdfast sessions.`);
}

/** The session that changed last among those nobody works on. */
async function lastInterrupted(host: Host): Promise<string | undefined> {
	const heads = [...(await host.journal.list({ state: "orphaned" }))];
	const waiting = (await host.journal.list()).filter(
		(head) => head.waiting > 0 && head.holder?.alive !== true && head.parked !== true,
	);
	return [...heads, ...waiting].sort((left, right) => right.updatedAt - left.updatedAt)[0]?.key;
}

function nextSteps({ environment }: CommandIo): string {
	const program = environment.npm_lifecycle_event === "start" ? "npm start --" : "holdfast run";
	return `
Try next:
  ${program} "How do I run the tests?"
  ${program} "Which breaking changes does CHANGELOG.md list?" --dir PATH
  ${environment.npm_lifecycle_event === "start" ? "npx holdfast" : "holdfast"} --help
`;
}

/** An error that ends a command, in one line. */
export function describeError(error: unknown): string {
	if (isHoldfastError(error)) return `${error.message} (${error.code})`;
	return error instanceof Error ? error.message : String(error);
}
