/** The commands that work: `run` sends a task to a session, `resume` continues an interrupted one. */

import type { Host } from "holdfast";
import { type CommandIo, quoted, sessionKeyFor } from "../terminal/index.ts";
import {
	exitCodes,
	followedIn,
	isOwnKey,
	keepSettings,
	type OpenAgent,
	openAgent,
	openDatabase,
	openExisting,
	prepare,
	readSettings,
	refuseServed,
	requireDatabase,
	type Setup,
	setupOfFile,
	shownDatabase,
	UsageError,
} from "../work/index.ts";
import type { Command } from "./arguments.ts";
import { readTask } from "./task-input.ts";
import { startWork, type Work } from "./work-under-way.ts";

type RunCommand = Extract<Command, { name: "run" }>;
type ResumeCommand = Extract<Command, { name: "resume" | "release" }>;

/** The default question, which makes sense in any folder. */
const DEFAULT_TASK = "What is this project?";

/** Runs a task; returns the exit code. */
export async function runTask(command: RunCommand, io: CommandIo): Promise<number> {
	const given = await readTask(command, io);
	const task = given ?? DEFAULT_TASK;
	const key = command.session ?? sessionKeyFor(task);
	const setup = prepare(command, key, io);
	if (given === undefined && !(await mayCost(setup, command, io))) return exitCodes.completed;
	const work = await started(setup, () => openDatabase(command.db), command, io);
	const { host } = work;
	try {
		await refuseServed(host, key);
		const head = await host.journal.head(key);
		// The mode of a run in flight cannot be changed.
		if (head?.openRunId !== undefined && head.holder?.alive === true)
			throw new Error(`Session ${quoted(key)} is running in another process. Wait until it is done.`);
		keepSettings(command.db, setup);
		if (given === undefined) work.renderer.note(`No task was given. Using: ${task}`);
		work.begin();
		if (head?.openRunId !== undefined && head.parked !== true) {
			const what = (await work.isWaiting()) ? "a run that waits for approval" : "an interrupted run";
			work.renderer.note(`This session has ${what}; it is finished first.`);
			const earlier = await work.continueOpen("resume");
			if (earlier === "suspended" || earlier === "waiting") return await work.end();
		}
		await work.send(task);
		const code = await work.end();
		if (given === undefined && !command.json) io.stdout.write(nextSteps(io));
		return code;
	} finally {
		await work.close();
	}
}

/**
 * Asks the user whether the default task may be sent to a model that costs money.
 * @throws UsageError if no user can answer.
 */
async function mayCost({ model, agent }: Setup, command: RunCommand, io: CommandIo): Promise<boolean> {
	if (command.yes || (agent === undefined && model.name === "offline")) return true;
	const name = agent === undefined ? model.name : `the agent of ${agent}`;
	const questions = command.json ? undefined : io.openQuestions();
	if (questions === undefined)
		throw new UsageError(
			`No task was given, and ${name} may cost money. Give a task: holdfast run "your task", or --model offline.`,
		);
	try {
		const said = await questions.ask(
			`No task was given. Send "${DEFAULT_TASK}" to ${name}, which may cost money? [y/N]: `,
			new AbortController().signal,
		);
		return /^y(?:es)?$/i.test(said?.trim() ?? "");
	} finally {
		questions.close();
	}
}

/** Opens the agent of a session, if it is not open yet, and what shows its work. */
async function started(
	setup: Setup,
	open: OpenAgent | (() => Promise<Host> | Host),
	command: RunCommand | ResumeCommand,
	io: CommandIo,
): Promise<Work> {
	let work: Work | undefined;
	const onNotice = (notice: string): void => work?.renderer.note(notice);
	const opened = typeof open === "function" ? await openAgent(setup, open, { onNotice }) : open;
	work = startWork(setup, opened, command, io, setup.agent === undefined ? await followedIn(setup.dir) : []);
	return work;
}

/** Resumes an interrupted session; returns the exit code. */
export async function resumeSession(command: ResumeCommand, io: CommandIo): Promise<number> {
	if (command.dbGiven !== undefined) requireDatabase(command.db);
	const file = command.agent ?? (command.session && readSettings(command.db, command.session)?.agent);
	const ofFile =
		file === undefined || file === ""
			? undefined
			: await openAgent(setupOfFile("", file, io.folder), () => openDatabase(command.db));
	const host = ofFile?.host ?? (await openExisting(command));
	if (host === undefined) {
		if (command.session !== undefined) throw unknownSession(command.session, shownDatabase(command.db));
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
		if (head === undefined || (head.seq === 0 && head.waiting === 0))
			throw unknownSession(key, shownDatabase(command.db));
		const setup = prepare(command, key, io);
		work = await started(setup, ofFile ?? (() => host), command, io);
		if ((await work.continueOpen(command.name)) === undefined) {
			return nothingToResume(`Session ${key} has nothing to resume: its last run has ended.`, command, io);
		}
		return await work.end();
	} finally {
		if (work !== undefined) await work.close();
		else {
			await ofFile?.agent.close();
			await host.close();
		}
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

/** Returns the last changed session without an owner, including sessions that wait for approval. */
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
