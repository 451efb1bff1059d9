/** The commands that work: `run` sends a task to a session, `resume` continues one that was interrupted. */
import { type Host, isHoldfastError } from "holdfast";
import { type CommandIo, longestPiped, quoted, sessionKeyFor } from "../terminal/index.ts";
import type { Command } from "./arguments.ts";
import { openDatabase, openExisting } from "./database.ts";
import { isOwnKey, refuseServed } from "./session-name.ts";
import { writeSettings } from "./session-settings.ts";
import { exitCodes, UsageError } from "./usage-error.ts";
import { prepare, startWork, type Work } from "./work-under-way.ts";

type RunCommand = Extract<Command, { name: "run" }>;
type ResumeCommand = Extract<Command, { name: "resume" | "release" }>;

/** What is asked when nothing is: sensible in any folder of files. */
const DEFAULT_TASK = "What is this project?";

/** Milliseconds in which something has to come through a pipe that nobody said a task is in. */
const PIPE_MS = 1_000;

/** Works on a task; gives the exit code. */
export async function runTask(command: RunCommand, io: CommandIo): Promise<number> {
	const given = await taskOf(command, io);
	const task = given ?? DEFAULT_TASK;
	const key = command.session ?? sessionKeyFor(task);
	const setup = prepare(command, key, io);
	const host = await openDatabase(command.db);
	const work = startWork(setup, host, command, io);
	try {
		await refuseServed(host, key);
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
		if (given === undefined) work.renderer.note(`No task was given, so it is: ${task}`);
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
		if (given === undefined && !command.json) io.stdout.write(nextSteps(io));
		return code;
	} finally {
		await work.close();
	}
}

/** The task that was given: as an argument, or by a pipe. `-` waits for what is piped in, however long that takes. */
async function taskOf({ task }: RunCommand, io: CommandIo): Promise<string | undefined> {
	if (task !== undefined && task !== "-") return task;
	const piped = await io.readPiped(task === "-" ? undefined : PIPE_MS);
	if (piped !== undefined && piped.length > longestPiped)
		throw new UsageError(
			`The task that was piped in has more than ${longestPiped} characters. Put it into a file of the folder, and ask about that.`,
		);
	if (piped === undefined && task === "-")
		throw new UsageError('Nothing was piped in. Say what to do: holdfast run "your task".');
	return piped;
}

/** Resumes an interrupted session; gives the exit code. */
export async function resumeSession(command: ResumeCommand, io: CommandIo): Promise<number> {
	const host = await openExisting(command.db);
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
		await refuseServed(host, key);
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

function unknownSession(key: string, db: string): UsageError {
	return new UsageError(`There is no session "${key}" in ${db}. See: holdfast sessions.`);
}

/** The session that changed last among those without an owner, the ones that wait for approval among them. */
async function lastInterrupted(host: Host): Promise<string | undefined> {
	const heads = [
		...(await host.journal.list({ state: "orphaned" })),
		...(await host.journal.list({ state: "waiting" })),
	];
	const waiting = (await host.journal.list()).filter(
		(head) => head.waiting > 0 && head.holder?.alive !== true && head.parked !== true,
	);
	return [...heads, ...waiting]
		.filter((head) => isOwnKey(head.key))
		.sort((left, right) => right.updatedAt - left.updatedAt)[0]?.key;
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
