// The heartbeat: a thread with a connection of its own, so that a main thread that is busy for a minute keeps its
// leases. While it is there, it also moves the write-ahead log into the file, off the path of appends.
import { Worker } from "node:worker_threads";

/** What the thread must know. */
export interface HeartbeatOptions {
	readonly path: string;
	/** Row of the worker. */
	readonly worker: number;
	/** Milliseconds from beat to beat. */
	readonly every: number;
}

/** A heartbeat under way. */
export interface Heartbeat {
	/** Whether it runs: from its first beat on. */
	readonly beating: boolean;
	stop(): Promise<void>;
}

/** Size of the write-ahead log from which the thread works it off, in bytes. */
const checkpointFrom = 4 * 1024 * 1024;

// Text, not a file: it runs the same from sources, from a build and from a bundle. `PRAGMA synchronous` stays at its
// default FULL here, as a checkpoint must be on disk before the log is used again. A beat that fails is tried again
// with the next one; nobody is told, as the lease is fenced by its epoch alone.
const program = `
const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
const { statSync } = process.getBuiltinModule("node:fs");
const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
const { path, worker, every, checkpointFrom } = workerData;
const database = new DatabaseSync(path, { timeout: 1000 });
const beat = database.prepare("UPDATE workers SET heartbeat = 1, beat_at = ? WHERE id = ?");
const checkpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
const attempt = (action) => { try { action(); } catch {} };
const pulse = () => attempt(() => beat.run(Date.now(), worker));
const workOff = () => attempt(() => {
	if ((statSync(path + "-wal", { throwIfNoEntry: false })?.size ?? 0) > checkpointFrom) checkpoint.get();
});
pulse();
parentPort.postMessage("beating");
const timers = [setInterval(pulse, every), setInterval(workOff, 500)];
parentPort.once("message", () => {
	for (const timer of timers) clearInterval(timer);
	database.close();
});
`;

/** Starts the heartbeat of a worker. It keeps no process alive. */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
	const thread = new Worker(program, {
		eval: true,
		name: "holdfast-heartbeat",
		workerData: { ...options, checkpointFrom },
		execArgv: ["--no-warnings"],
		env: {},
		resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
	});
	thread.unref();
	let beating = false;
	thread.once("message", () => {
		beating = true;
	});
	const ended = new Promise<void>((resolve) => {
		thread.once("exit", () => {
			beating = false;
			resolve();
		});
	});
	// Without the thread, appends beat now and then, and the process speaks for itself.
	thread.on("error", () => {});
	return {
		get beating() {
			return beating;
		},
		async stop() {
			thread.ref();
			thread.postMessage("stop");
			await ended;
		},
	};
}
