/** The commands that work: `run` sends a task to a session, `resume` goes on with one that was interrupted. */
import {
	type Agent,
	type AgentRun,
	type Host,
	isHoldfastError,
	type PendingToolCall,
	type RunResult,
	type Session,
} from "holdfast";
import { Approvals } from "./approvals.ts";
import type { Command, WorkOptions } from "./arguments.ts";
import { checkFolder, createAssistant } from "./assistant.ts";
import { openDatabase, openExisting } from "./database.ts";
import { quoted, sessionKeyFor } from "./format.ts";
import type { CommandIo } from "./io.ts";
import { type ChosenModel, chooseModel } from "./models.ts";
import { chooseRenderer, type Renderer } from "./render/index.ts";
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
			allowWrite: setup.allowWrite,
		});
		if (command.task === undefined) work.renderer.note(`No task was given, so it is: ${task}`);
		work.begin();
		const session = work.agent.session(key);
		if (head?.openRunId !== undefined && head.parked !== true) {
			const waits = (await session.pending()).length > 0;
			const what = waits ? "a run that waits for approval" : "an interrupted run";
			work.renderer.note(`This session has ${what}; it is finished first.`);
			const earlier = await work.goOn(session, "resume");
			if (earlier !== null && /^(?:suspended|waiting)$/.test(earlier.outcome)) return await work.end();
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
		if ((await work.goOn(work.agent.session(key), command.name)) === null) {
			return nothingToResume(`Session ${key} has nothing to resume: its last run has ended.`, command, io);
		}
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
	readonly allowWrite: boolean;
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
		allowWrite: command.allowWrite ?? before?.allowWrite ?? false,
	};
}

interface Work {
	readonly agent: Agent;
	readonly renderer: Renderer;
	/** Says what works where, once. */
	begin(): void;
	/** Shows a run until it ends, is interrupted, or waits for approvals that nobody gives now. */
	follow(run: AgentRun): Promise<RunResult>;
	/** Goes on with the run that is open or waits for approval; null when there is none. */
	goOn(session: Session, how: "resume" | "release"): Promise<RunResult | null>;
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
	// In JSON nobody reads a question; without a tool that asks there is none.
	const questions = command.json || !setup.allowWrite ? undefined : io.openQuestions();
	const approvals = new Approvals({ dir: setup.dir, options: command, renderer, questions });
	const started = performance.now();
	let begun = false;
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
		if (active !== undefined) renderer.note("Interrupting; press Ctrl-C again to quit at once.");
		active?.suspend();
		approvals.interrupt();
	});
	async function show(run: AgentRun): Promise<RunResult> {
		active = run;
		if (interrupts > 0) run.suspend();
		for await (const event of run.watch()) renderer.event(event);
		const result = await run.result();
		active = undefined;
		return result;
	}
	/** Gives the answers there are, one by one: what is approved next is what the change before has left. */
	async function settle(result: RunResult): Promise<RunResult> {
		last = result;
		while (last.outcome === "waiting") {
			const answer = await approvals.next(last.pending ?? []);
			if (answer === undefined) break;
			last = await show(await agent.session(setup.key).answer([answer]));
		}
		return last;
	}
	return {
		agent,
		renderer,
		begin() {
			if (begun) return;
			begun = true;
			renderer.begin(header);
			if (setup.allowWrite && setup.model.name === "offline")
				renderer.note("The offline model only reads: it will change no file.");
		},
		follow: async (run) => settle(await show(run)),
		async goOn(session, how) {
			const pending = await session.pending();
			approvals.check(pending);
			if (pending.length > 0) {
				this.begin();
				return settle(await waitingResult(session, pending));
			}
			const run = await session[how]();
			if (run === null) return null;
			this.begin();
			return settle(await show(run));
		},
		async end() {
			const result = last as RunResult;
			const exitCode = exitCodeOf(result);
			const program = io.environment.npm_lifecycle_event === undefined ? "holdfast" : "npx holdfast";
			const db = command.dbGiven === undefined ? "" : ` --db ${quoted(command.dbGiven)}`;
			const key = quoted(setup.key);
			const waiting = result.outcome === "waiting" ? await approvals.leave(result.pending ?? []) : [];
			if (result.error !== undefined && exitCode === exitCodes.failed)
				io.stderr.write(`${describeFailure(result)}\n`);
			renderer.end({
				result,
				exitCode,
				header,
				duration: performance.now() - started,
				resumeCommand: `${program} resume ${key}${db}`,
				showCommand: `${program} show ${key}${db}`,
				waiting,
				continueCommand: `${program} run "…" --session ${key}${db}`,
			});
			return exitCode;
		},
		async close() {
			stopListening();
			approvals.close();
			await agent.close();
			await host.close();
		},
	};
}

/** How a run stands that waits and was not gone on with. */
async function waitingResult(session: Session, pending: readonly PendingToolCall[]): Promise<RunResult> {
	const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
	const state = await session.state();
	return { runId: pending[0]?.runId ?? "", outcome: "waiting", pending, text: "", state, usage, steps: 0 };
}

function exitCodeOf(result: RunResult): number {
	if (result.outcome === "waiting") return exitCodes.waiting;
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

/** The session that changed last among those nobody works on, the ones that wait for approval among them. */
async function lastInterrupted(host: Host): Promise<string | undefined> {
	const heads = [
		...(await host.journal.list({ state: "orphaned" })),
		...(await host.journal.list({ state: "waiting" })),
	];
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
