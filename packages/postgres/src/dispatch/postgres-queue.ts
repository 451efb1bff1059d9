// The queue of a host: graphile-worker hands out the sessions of its jobs to those in this process who take work, of which
// there may be many, an agent each; they share one runner (keeps I4, I7).
//
// idle → starting (with the first who takes) → running → stopping (when the last one stops) → idle. A job whose session
// nobody here takes, or whose work fails, is tried again later, by whatever process.
import { Logger, type Runner, run, runMigrations } from "graphile-worker";
import type { WorkQueue, WorkTaker } from "holdfast/host";
import { fromStored } from "holdfast/host";
import pg from "pg";
import { postgresError } from "../postgres-errors.ts";
import type { Store } from "../store.ts";
import { installDispatch, jobSchemaOf, task } from "./install.ts";

/** Connections of the runner at most: one listens, the others fetch and end jobs. */
const connections = 4;
/** Milliseconds between two looks for jobs whose notification was lost, or whose time has come. */
const pollMs = 1_000;
/** Milliseconds between two looks at the workers, for those that died. */
const lookForDeadMs = 500;
/** Jobs of one process at once at most; each who takes has its own limit. */
const jobsAtOnce = 100;

interface Taking {
	readonly taker: WorkTaker;
	/** Sessions it works on. */
	busy: number;
	/** Jobs that wait until it has room. */
	readonly waiting: (() => void)[];
	stopped: boolean;
}

/** The queue of a store. */
export interface PostgresQueue extends WorkQueue {
	/** Ends whatever is running. */
	close(): Promise<void>;
}

/** Makes the queue; nothing connects before somebody takes. */
export function postgresQueue(store: Store, space: number): PostgresQueue {
	const { schema } = store;
	const takings = new Set<Taking>();
	let running: Promise<{ stop(): Promise<void> }> | undefined;

	async function work(payload: unknown): Promise<void> {
		const { key: stored } = payload as { key: string };
		const key = fromStored(stored);
		const taking = [...takings].find((each) => !each.stopped && each.taker.isOurs(key));
		if (taking === undefined) throw new Error("nobody in this process works on that session");
		while (taking.busy >= taking.taker.atOnce) await new Promise<void>((room) => taking.waiting.push(room));
		if (taking.stopped) throw new Error("nobody in this process works on that session any more");
		taking.busy++;
		try {
			await taking.taker.work(key);
		} finally {
			taking.busy--;
			taking.waiting.shift()?.();
		}
	}

	async function start(): Promise<{ stop(): Promise<void> }> {
		await store.ready();
		const pool = new pg.Pool({ ...store.options.queueConnection, max: connections } as never);
		pool.on("error", () => {});
		pool.on("connect", (client) => client.on("error", () => {}));
		const settings = {
			pgPool: pool,
			schema: jobSchemaOf(schema),
			logger: new Logger(() => () => {}),
		};
		let runner: Runner;
		try {
			await runMigrations(settings);
			await installDispatch(store.database, schema);
			runner = await run({
				...settings,
				concurrency: jobsAtOnce,
				pollInterval: pollMs,
				noHandleSignals: true,
				taskList: { [task]: work },
				crontab: "",
			});
		} catch (error) {
			await pool.end();
			throw postgresError(error);
		}
		// It ends by itself only when it is stopped; what breaks its connections it survives.
		runner.promise.catch(() => {});
		const dead = setInterval(lookForDead, Math.min(lookForDeadMs, store.options.leaseTtlMs / 3));
		dead.unref();
		return {
			async stop() {
				clearInterval(dead);
				await runner.stop().catch(() => {});
				await pool.end().catch(() => {});
			},
		};
	}

	/** Sessions of workers that died are handed out. A look that fails is made again. */
	let looking: Promise<unknown> | undefined;
	function lookForDead(): void {
		looking ??= store.database
			.once(`SELECT ${schema}.dispatch_dead_1(${space})`)
			.catch(() => {})
			.finally(() => {
				looking = undefined;
			});
	}

	async function stopIfUnused(): Promise<void> {
		if (takings.size > 0 || running === undefined) return;
		const ending = running;
		running = undefined;
		await (await ending.catch(() => undefined))?.stop();
		await looking;
	}

	return {
		async take(taker) {
			const taking: Taking = { taker, busy: 0, waiting: [], stopped: false };
			takings.add(taking);
			running ??= start().catch((error: unknown) => {
				running = undefined;
				throw error;
			});
			try {
				await running;
			} catch (error) {
				takings.delete(taking);
				throw error;
			}
			return {
				async stop() {
					taking.stopped = true;
					for (const room of taking.waiting.splice(0)) room();
					takings.delete(taking);
					await stopIfUnused();
				},
			};
		},
		async close() {
			takings.clear();
			await stopIfUnused();
		},
	};
}
