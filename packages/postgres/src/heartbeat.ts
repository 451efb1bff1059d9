// The heartbeat of a worker: a thread with a separate connection, so that the worker keeps its leases while its main
// thread is blocked for a minute. The main thread sends heartbeats until the heartbeat thread runs, or if that thread cannot run.
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

/** The parts of a heartbeat. */
export interface HeartbeatOptions {
	/** The connection options; undefined if no lasting connection is possible. */
	readonly connection: object | undefined;
	/** The statement of a heartbeat, and its values. */
	readonly text: string;
	readonly values: readonly unknown[];
	/** Milliseconds between heartbeats. */
	readonly every: number;
	/** Sends a heartbeat from the main thread. */
	beat(): Promise<unknown>;
}

/** A running heartbeat. */
export interface Heartbeat {
	/** Lets the thread take over; calling it twice is harmless. */
	useThread(): void;
	stop(): Promise<void>;
}

// A text instead of a file, so that it runs from sources and from a build alike. A failed heartbeat is repeated with the
// next one, on a new connection. It is not reported, because a lease is fenced by its epoch alone.
const program = `
const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
const { Client } = process.getBuiltinModule("node:module").createRequire(workerData.from)("pg");
let client, over = false, busy = false;
async function pulse() {
	if (busy || over) return;
	busy = true;
	try {
		if (client === undefined) {
			const fresh = new Client(workerData.connection);
			fresh.on("error", () => { if (client === fresh) client = undefined; });
			await fresh.connect();
			client = fresh;
		}
		await client.query(workerData.text, workerData.values);
		if (!over) parentPort.postMessage("beating");
	} catch {
		const broken = client;
		client = undefined;
		if (broken) broken.end().catch(() => {});
	}
	busy = false;
}
const timer = setInterval(pulse, workerData.every);
pulse();
parentPort.once("message", async () => {
	over = true;
	clearInterval(timer);
	await client?.end().catch(() => {});
	process.exit();
});
`;

/** Starts the heartbeat of a worker. It does not keep the process alive. */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
	const { connection, text, values, every, beat } = options;
	let thread: Worker | undefined;
	let beating = false;
	let pending: Promise<unknown> | undefined;
	const timer = setInterval(() => {
		if (beating || pending !== undefined) return;
		pending = beat()
			.catch(() => {})
			.finally(() => {
				pending = undefined;
			});
	}, every);
	timer.unref();

	function start(): Worker | undefined {
		try {
			const workerData = { connection, text, values, every, from: import.meta.url };
			createRequire(import.meta.url).resolve("pg");
			return new Worker(program, {
				eval: true,
				name: "holdfast-heartbeat",
				workerData,
				execArgv: ["--no-warnings"],
				resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
			});
		} catch {
			// The options cannot be passed to a thread, for example because of a password function: the main thread
			// sends the heartbeats instead.
			return undefined;
		}
	}

	return {
		useThread() {
			if (thread !== undefined || connection === undefined) return;
			thread = start();
			thread?.unref();
			thread?.on("message", () => {
				beating = true;
			});
			thread?.on("error", () => {});
			thread?.once("exit", () => {
				beating = false;
			});
		},
		async stop() {
			clearInterval(timer);
			await pending;
			const running = thread;
			if (running === undefined || running.threadId === -1) return;
			const ended = new Promise<void>((resolve) => running.once("exit", () => resolve()));
			running.ref();
			running.postMessage("stop");
			// Do not wait for a hanging connection.
			const last = setTimeout(() => void running.terminate(), 1_000);
			await ended;
			clearTimeout(last);
		},
	};
}
