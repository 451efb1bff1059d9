// The heartbeat: a thread with its own connection, so that a worker keeps its leases even if its main thread is busy for
// a minute.
import { Worker } from "node:worker_threads";

/** The parameters of the thread. */
export interface HeartbeatOptions {
	readonly path: string;
	/** The worker's row. */
	readonly worker: number;
	/** Milliseconds between heartbeats. */
	readonly every: number;
}

/** A running heartbeat. */
export interface Heartbeat {
	/** Whether it is running: true from its first heartbeat. */
	readonly beating: boolean;
	stop(): Promise<void>;
}

// Text instead of a file, so that it runs from sources, a build and a bundle alike. A failed heartbeat is repeated with
// the next one. It is not reported, because a lease is fenced by its epoch alone. The thread leaves the write-ahead log
// to the appends: checkpointing it here concurrently slowed them down when measured.
const program = `
const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
const { path, worker, every } = workerData;
const database = new DatabaseSync(path, { timeout: 1000 });
database.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
const beat = database.prepare("UPDATE workers SET heartbeat = 1, beat_at = ?, uptime = ? WHERE id = ?");
const pulse = () => { try { beat.run(Date.now(), Number(process.hrtime.bigint() / 1000000n), worker); } catch {} };
pulse();
parentPort.postMessage("beating");
const timer = setInterval(pulse, every);
parentPort.once("message", () => {
	clearInterval(timer);
	database.close();
});
`;

/** Starts the heartbeat of a worker. It does not keep the process alive. */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
	const thread = new Worker(program, {
		eval: true,
		name: "holdfast-heartbeat",
		workerData: options,
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
	// Without the thread, appends send a heartbeat occasionally, and others check the process itself.
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
