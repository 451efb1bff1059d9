// The process that the tests kill: an agent on a SQLite file that does what its one argument says, reports its moments,
// and ends when all is done.
import { flushCompileCache } from "node:module";
import { type AgentRun, agent, type Session } from "holdfast";
import { type SqliteHostOptions, sqliteHost } from "holdfast/sqlite";
import { moments, Order, watchedHost } from "./moments.fixture.ts";
import { plannedModel } from "./planned-model.fixture.ts";
import { nextLine, plannedTools } from "./planned-tools.fixture.ts";

// A process that is killed would leave nothing of what it has compiled to those after it.
flushCompileCache();

export interface WorkerOptions {
	readonly host: SqliteHostOptions;
	readonly receiver: string;
	readonly effects: string;
	readonly requests: string;
	/** What to do: send these, one after the other without waiting; resume the session; find what is to be recovered. */
	readonly work:
		| {
				readonly send: readonly string[];
				/** Each is sent when the one before it ended. */
				readonly oneByOne?: true;
				/** When all have ended and a line comes, the session is resumed. */
				readonly thenResume?: true;
		  }
		| { readonly resume: true }
		| { readonly release: true }
		| { readonly stop: true }
		/** From when a line comes on. */
		| { readonly recover: true; readonly atLine?: true }
		/** Whatever is due, until a line comes. */
		| { readonly whatever: true };
	readonly session?: string;
	/** The moment at which the process kills itself. */
	readonly killAt?: string;
	/** The moment at which the process stops itself, for somebody to wake it up. */
	readonly stopAt?: string;
	/** The moment at which the run under way is suspended, or the agent closed. */
	readonly suspendAt?: string;
	readonly closeAt?: string;
	/** The process, its agent and its host stay after all is done, until a line comes. */
	readonly keepAlive?: true;
	/** The provider of its model asks to come back after so many milliseconds. */
	readonly busyMs?: number;
	/** Calls of one round end as they like, and may share a commit. */
	readonly unordered?: true;
}

const options = JSON.parse(process.argv[2] ?? "{}") as WorkerOptions;
const reported = moments(options.killAt, options.stopAt);
const order = new Order();
let active: AgentRun | undefined;
let closing: Promise<void> | undefined;
const reach: typeof reported.reach = (moment, details) => {
	reported.reach(moment, details);
	if (moment === options.suspendAt) active?.suspend();
	if (moment === options.closeAt) closing ??= worker.close();
};

const host = watchedHost(sqliteHost(options.host), { reach }, order);
const worker = agent({
	model: plannedModel(options.requests, reach, options.busyMs),
	system: "Follow the plan.",
	tools: plannedTools({
		receiver: options.receiver,
		effects: options.effects,
		moments: { reach },
		order: options.unordered === true ? new Order() : order,
	}),
	host,
});

async function report(run: AgentRun): Promise<void> {
	active = run;
	const { runId, outcome, text, error, steps } = await run.result();
	reach("result", { runId, outcome, text, steps, error: error?.code });
}

async function send(session: Session, inputs: readonly string[], oneByOne: boolean): Promise<void> {
	const results: Promise<void>[] = [];
	for (const [index, input] of inputs.entries()) {
		const run = await session.send(input);
		reach(`sent ${index + 1}`, { runId: run.runId });
		const result = report(run);
		results.push(result);
		if (oneByOne) await result;
	}
	await Promise.all(results);
}

async function resume(session: Session): Promise<void> {
	for (let run = await session.resume(); run !== null; run = await session.resume()) {
		reach("resumed", { runId: run.runId });
		await report(run);
	}
}

try {
	const session = worker.session(options.session ?? "s");
	const { work } = options;
	reach("ready");
	if ("send" in work) {
		await send(session, work.send, work.oneByOne === true);
		if (work.thenResume === true) {
			await nextLine();
			await resume(session);
		}
	} else if ("recover" in work) {
		if (work.atLine === true) await nextLine();
		for await (const run of worker.recover()) {
			reach("recovering", { runId: run.runId });
			await report(run);
		}
	} else if ("whatever" in work) {
		const stop = new AbortController();
		void nextLine().then(() => stop.abort());
		const results: Promise<void>[] = [];
		for await (const run of worker.work({ signal: stop.signal })) {
			reach("resumed", { runId: run.runId, session: run.sessionKey });
			results.push(report(run));
		}
		await Promise.all(results);
	} else if ("stop" in work) {
		reach("stopped", { stopped: await session.stop() });
	} else if ("release" in work) {
		const run = await session.release();
		if (run !== null) await report(run);
	} else await resume(session);
} catch (error) {
	reach("failed", { code: (error as { code?: string }).code, message: (error as Error).message });
}
if (options.keepAlive === true) await nextLine();
await (closing ?? worker.close());
await host.close();
reach("closed");
process.stdin.destroy();
