// Processes that work on the sessions of one Postgres, for the rows that measure them from outside: how many runs have ended,
// when the model of each was called, and what they have cost. Started as a program of its own it is such a process.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type PostgresHost, postgresHost } from "@holdfast/postgres";
import { messageToJSON, UserMessage } from "@holdfast/upp";
import { agent } from "holdfast";
import { wholeModel } from "./stub-model.ts";

/** A worker's report about the work since the last one. */
interface Report {
	readonly ended: number;
	/** Keys of sessions, and milliseconds since the epoch when the model was called for each. */
	readonly called: readonly (readonly [key: string, at: number])[];
	/** Microseconds of CPU time since it was started. */
	readonly cpu: number;
}

/** Workers that take what is handed out. */
export interface Fleet {
	/** Runs that have ended. */
	readonly ended: number;
	/** When the model was called for the session of each key, in milliseconds since the epoch. */
	readonly called: ReadonlyMap<string, number>;
	/** Microseconds of CPU time of all of them. */
	readonly cpu: number;
	/** Resolves when so many runs have ended. */
	until(ended: number): Promise<void>;
	/** Resolves when they have said so much as there was to say by now. */
	heard(): Promise<void>;
	stop(): Promise<void>;
}

/** Milliseconds in which what a worker has to say is gathered. */
const gatherMs = 10;

/** Starts workers; resolves when what is submitted from now on is handed out to all of them. */
export async function startFleet(count: number, connectionString: string, schema: string): Promise<Fleet> {
	const called = new Map<string, number>();
	const cpus = new Map<ChildProcess, number>();
	const waiting = new Set<() => void>();
	let ended = 0;
	const workers = Array.from({ length: count }, () =>
		fork(import.meta.filename, [connectionString, schema], { stdio: ["ignore", "ignore", "inherit", "ipc"] }),
	);
	// Rejects when a worker ends by itself.
	const gone = new Promise<never>((_, reject) => {
		for (const worker of workers)
			worker.once("exit", (code) => reject(new Error(`A worker ended with ${code}.`)));
	});
	gone.catch(() => {});
	const reportsOfAll = (): Promise<unknown> =>
		Promise.race([Promise.all(workers.map((worker) => once(worker, "message"))), gone]);
	await reportsOfAll();
	for (const worker of workers)
		worker.on("message", (report: Report) => {
			ended += report.ended;
			for (const [key, at] of report.called) called.set(key, at);
			cpus.set(worker, report.cpu);
			for (const look of waiting) look();
		});
	return {
		get ended() {
			return ended;
		},
		called,
		get cpu() {
			return [...cpus.values()].reduce((sum, cpu) => sum + cpu, 0);
		},
		async until(wanted) {
			if (ended >= wanted) return;
			const reached = new Promise<void>((resolve) => {
				const look = (): void => {
					if (ended < wanted) return;
					waiting.delete(look);
					resolve();
				};
				waiting.add(look);
			});
			await Promise.race([reached, gone]);
		},
		async heard() {
			for (const worker of workers) worker.send("say");
			await reportsOfAll();
		},
		async stop() {
			const ends = workers.map((worker) => once(worker, "exit"));
			for (const worker of workers) worker.send("stop");
			await Promise.all(ends);
		},
	};
}

/** Submits a message without a waiting caller; resolves when it is committed. */
export async function submit(host: PostgresHost, key: string): Promise<void> {
	const id = globalThis.crypto.randomUUID();
	const message = messageToJSON(new UserMessage(key, { id }));
	await host.journal.submit(key, { id, kind: "message", runId: id, body: { shape: "text", message } });
}

/** Microseconds of CPU time of a process and of all it has started; undefined where the machine does not say. */
export function cpuOfTree(pid: number): number | undefined {
	try {
		let ticks = 0;
		const parents = new Set([String(pid)]);
		// Later processes have higher numbers, except after a wrap-around.
		for (const name of readdirSync("/proc").sort((one, other) => Number(one) - Number(other))) {
			if (!/^\d+$/.test(name)) continue;
			const stat = statOf(name);
			if (stat === undefined || !(name === String(pid) || parents.has(stat[1] as string))) continue;
			parents.add(name);
			// Its own ticks, and those of its ended children, which are recorded nowhere else.
			ticks += Number(stat[11]) + Number(stat[12]) + Number(stat[13]) + Number(stat[14]);
		}
		return ticks * 10_000;
	} catch {
		return undefined;
	}
}

/** The fields after the name of a process: its state, its parent and so on. */
function statOf(pid: string): readonly string[] | undefined {
	try {
		return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ");
	} catch {
		return undefined; // it has ended meanwhile
	}
}

async function work([connectionString = "", schema = ""]: readonly string[]): Promise<void> {
	const host = postgresHost({ connectionString, schema });
	const stop = new AbortController();
	let ended = 0;
	let called: (readonly [string, number])[] = [];
	let saying: ReturnType<typeof setTimeout> | undefined;

	function say(): void {
		clearTimeout(saying);
		saying = undefined;
		const { user, system } = process.cpuUsage();
		process.send?.({ ended, called, cpu: user + system } satisfies Report);
		ended = 0;
		called = [];
	}

	const model = wholeModel((text) => {
		called.push([text, Date.now()]);
	});
	const queue: PostgresHost["queue"] = {
		async take(taker) {
			const taking = await host.queue.take(taker);
			say();
			return taking;
		},
	};
	process.on("message", (message) => (message === "say" ? say() : stop.abort()));
	const worker = agent({ model, host: { ...host, queue } });
	for await (const run of worker.work({ signal: stop.signal, onProblem: () => {} }))
		void run.result().then(() => {
			ended++;
			saying ??= setTimeout(say, gatherMs);
		});
	say();
	await worker.close();
	await host.close();
	process.disconnect();
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) await work(process.argv.slice(2));
