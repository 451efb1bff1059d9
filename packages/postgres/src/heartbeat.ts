// The heartbeat of a worker: a thread with a connection of its own, so that a main thread that is busy for a minute keeps its
// leases. Until the thread beats, and where it cannot, the main thread does.
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

/** The parts of a heartbeat. */
export interface HeartbeatOptions {
	/** The connection options; undefined if no lasting connection is possible. */
	readonly connection: object | undefined;
	/** The statement of a beat, and its values. */
	readonly text: string;
	readonly values: readonly unknown[];
	/** Milliseconds from beat to beat. */
	readonly every: number;
	/** Beats from the main thread. */
	beat(): Promise<unknown>;
}

/** A heartbeat under way. */
export interface Heartbeat {
	/** Hands it to the thread; harmless when that was done. */
	useThread(): void;
	stop(): Promise<void>;
}

// Text instead of a file, so that it runs from sources and from a build alike. A failed beat is repeated with the next
// one, on a new connection. It is not reported, because a lease is fenced by its epoch alone.
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

/** Starts the heartbeat of a worker. It keeps no process alive. */
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
			// Options that cannot be passed to a thread, such as a password function: the main thread beats instead.
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
			// One that hangs in its connection is not waited for.
			const last = setTimeout(() => void running.terminate(), 1_000);
			await ended;
			clearTimeout(last);
		},
	};
}
