// Has a thread watch each process of tests, and tells it what is under way. A test whose loop leaves no time to timers cannot
// be timed out by the test runner, which has its timers in the same process.
import { Worker } from "node:worker_threads";
import { afterEach, beforeAll, beforeEach, expect, inject } from "vitest";
import type { Beat } from "./watchdog-thread.fixture.ts";

declare module "vitest" {
	export interface ProvidedContext {
		/** Milliseconds that a file may take to load, and that a process may not answer for when no test is under way. */
		readonly unansweredMs: number;
	}
}

const everyMs = 500;

/** One thread for a process, which may have many files. */
const kept = globalThis as { holdfastWatchdog?: Worker };
kept.holdfastWatchdog ??= start();
const thread = kept.holdfastWatchdog;

function start(): Worker {
	const worker = new Worker(new URL("./watchdog-thread.fixture.ts", import.meta.url), {
		execArgv: ["--no-warnings"],
		env: {},
	});
	worker.unref();
	setInterval(() => worker.postMessage({} satisfies Beat), everyMs).unref();
	return worker;
}

function tell(beat: Beat): void {
	thread.postMessage(beat);
}

tell({ file: expect.getState().testPath ?? "", limitMs: inject("unansweredMs") });
beforeAll(() => tell({ loaded: true }));
beforeEach(({ task }) => tell({ began: task.fullTestName, limitMs: task.timeout }));
afterEach(({ task }) => tell({ ended: task.fullTestName }));
