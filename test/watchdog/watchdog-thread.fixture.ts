// The thread that watches a process of tests: what is under way in it, and when it last answered. States: watching → (no
// answer for longer than the test may take) interrupted → watching again when the test ends, or else killed. An interruption
// ends a loop of microtasks, whose test then times out by its name; a loop without any pause takes its test runner along.
import { writeSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { parentPort } from "node:worker_threads";

/** A sign of life of the watched process, with what has changed in it. */
export interface Beat {
	/** A test file that is being loaded from now on, and milliseconds for all that is not a test. */
	readonly file?: string;
	readonly limitMs?: number;
	readonly loaded?: true;
	/** A test that has begun, by its name, with its timeout in milliseconds. */
	readonly began?: string;
	readonly ended?: string;
}

const everyMs = 500;
/** The descriptor: the stream of a thread is written by the process that does not answer. */
const stderr = 2;
/** Time for the test runner to notice by itself, and for a test to end once it is interrupted, in milliseconds. */
const graceMs = 3_000;
const mostFrames = 12;

let file = "";
let otherLimitMs = Number.POSITIVE_INFINITY;
let answeredAt = performance.now();
let loadingSince = Number.POSITIVE_INFINITY;
const limits = new Map<string, number>();
let killAt = Number.POSITIVE_INFINITY;

parentPort?.on("message", ({ file: loading, limitMs = otherLimitMs, loaded, began, ended }: Beat) => {
	answeredAt = performance.now();
	if (loading !== undefined) {
		file = loading;
		otherLimitMs = limitMs;
		loadingSince = answeredAt;
		limits.clear();
	}
	if (loaded) loadingSince = Number.POSITIVE_INFINITY;
	if (began !== undefined) limits.set(began, limitMs);
	if (ended !== undefined && limits.delete(ended)) killAt = Number.POSITIVE_INFINITY;
});

setInterval(() => {
	const now = performance.now();
	if (now > killAt) {
		say("killed");
		process.kill(process.pid, "SIGKILL");
	}
	const limitMs = limits.size === 0 ? otherLimitMs : Math.max(...limits.values());
	const isHanging = now - answeredAt > limitMs + graceMs;
	const isLoading = now - loadingSince > otherLimitMs + graceMs;
	if (killAt !== Number.POSITIVE_INFINITY || !(isHanging || isLoading)) return;
	killAt = now + graceMs;
	const tests = limits.size === 0 ? "outside of a test" : [...limits.keys()].join(", and ");
	say(`HANGS for ${limitMs / 1_000} s: ${file}: ${isLoading ? "while it is loaded" : tests}`);
	void interrupt();
}, everyMs);

/** Prints where the process is, and has it leave all functions it is in. */
async function interrupt(): Promise<void> {
	const session = new Session();
	session.connectToMainThread();
	const urls = new Map<string, string>();
	session.on("Debugger.scriptParsed", ({ params }) => void urls.set(params.scriptId, params.url));
	session.on("Debugger.paused", ({ params }) => {
		for (const { functionName, location } of params.callFrames.slice(0, mostFrames))
			say(
				`    at ${functionName || "(anonymous)"} (${urls.get(location.scriptId)}:${location.lineNumber + 1})`,
			);
		void session.post("Debugger.resume");
		void session.post("Runtime.terminateExecution").then(() => session.disconnect());
	});
	await session.post("Debugger.enable");
	await session.post("Debugger.pause");
}

function say(line: string): void {
	writeSync(stderr, `${line}\n`);
}
