/** The command that works on due runs: it prints one line when a run starts and one when it ends. */

import type { AgentRun, RunResult } from "holdfast";
import { type CommandIo, formatCount, formatDuration, oneLine, printable } from "../terminal/index.ts";
import { describeError, ending, exitCodes, shownDatabase } from "../work/index.ts";
import type { Command } from "./arguments.ts";
import { openWorkplace, type Workplace } from "./workplace.ts";

type WorkerCommand = Extract<Command, { name: "worker" }>;

/** The longest session key shown. */
const WIDTH = 80;

/** Works until it is stopped, or until no work is due; returns the exit code. */
export async function runWorker(command: WorkerCommand, io: CommandIo): Promise<number> {
	const log = command.json ? jsonLog(io) : textLog(io);
	const stop = new AbortController();
	const stopListening = io.onInterrupt(() => {
		if (stop.signal.aborted) io.quit(exitCodes.interrupted);
		log.stopping(command.drain);
		stop.abort();
	}, ending(command.drain));
	let workplace: Workplace | undefined;
	const underWay = new Set<Promise<void>>();
	try {
		workplace = await openWorkplace(command, io, {
			signal: stop.signal,
			until: command.once ? "done" : "stopped",
			onProblem: ({ error, sessionKey }) => log.problem(describeError(error), sessionKey),
		});
		log.begin(command, workplace.of);
		for await (const run of workplace.runs()) {
			log.taken(run);
			const takenAt = performance.now();
			const over = run.result().then((result) => {
				log.over(run, result, performance.now() - takenAt);
				underWay.delete(over);
			});
			underWay.add(over);
		}
		await within(command.drain, [...underWay]);
		await workplace.close();
		await Promise.all(underWay);
		log.end(stop.signal.aborted ? "stopped" : "done");
		return exitCodes.completed;
	} finally {
		await workplace?.close();
		stopListening();
	}
}

/** Waits until all promises have settled or the time limit is reached. */
async function within(milliseconds: number, all: readonly Promise<void>[]): Promise<void> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const timeIsUp = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, milliseconds);
	});
	await Promise.race([Promise.all(all), timeIsUp]);
	clearTimeout(timer);
}

/** Reports what the worker does. */
interface WorkerLog {
	begin(command: WorkerCommand, of: string): void;
	taken(run: AgentRun): void;
	over(run: AgentRun, result: RunResult, duration: number): void;
	problem(text: string, sessionKey: string | undefined): void;
	stopping(drain: number): void;
	end(outcome: "stopped" | "done"): void;
}

function textLog({ stdout, stderr }: CommandIo): WorkerLog {
	const name = ({ sessionKey, runId }: AgentRun): string =>
		`session ${oneLine(sessionKey, WIDTH)} · run ${runId}`;
	return {
		begin: ({ db, once }, of) =>
			stdout.write(
				`worker ${process.pid} · ${of} · ${shownDatabase(db)}${once ? " · until nothing is due" : ""}\n`,
			),
		taken: (run) => stdout.write(`works on  ${name(run)}\n`),
		over: (run, { outcome, steps, error }, duration) => {
			const why = error === undefined ? "" : ` · ${oneLine(error.message, 200)} (${error.code})`;
			const count = `${formatCount(steps)} ${steps === 1 ? "step" : "steps"}`;
			stdout.write(`${outcome.padEnd(9)} ${name(run)} · ${count} in ${formatDuration(duration)}${why}\n`);
		},
		problem: (text, sessionKey) =>
			stderr.write(
				`holdfast: ${sessionKey === undefined ? "" : `session ${oneLine(sessionKey, WIDTH)}: `}${printable(text)}\n`,
			),
		stopping: (drain) =>
			stdout.write(
				`stopping; active runs have ${formatDuration(drain)} to finish. Press Ctrl-C again to quit at once.\n`,
			),
		end: (outcome) => stdout.write(`${outcome}\n`),
	};
}

function jsonLog({ stdout }: CommandIo): WorkerLog {
	const line = (event: object): void => stdout.write(`${JSON.stringify(event)}\n`);
	let runs = 0;
	return {
		begin: ({ db, once }, agent) =>
			line({
				type: "begin",
				worker: process.pid,
				agent,
				db: shownDatabase(db),
				until: once ? "done" : "stopped",
			}),
		taken: ({ sessionKey: session, runId: run }) => line({ type: "run_taken", session, run }),
		over({ sessionKey: session, runId: run }, { outcome, text, steps, usage, error }, duration) {
			runs++;
			const why = error === undefined ? {} : { error };
			const took = Math.round(duration);
			line({ type: "run_over", session, run, outcome, text, steps, usage, duration: took, ...why });
		},
		problem: (message, session) =>
			line({ type: "problem", ...(session === undefined ? {} : { session }), error: { message } }),
		stopping: (drain) => line({ type: "stopping", drain }),
		end: (outcome) => line({ type: "end", outcome, exitCode: exitCodes.completed, runs }),
	};
}
