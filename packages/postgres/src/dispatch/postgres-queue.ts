// The queue of a host: graphile-worker hands out the sessions of its jobs to the takers in this process. There may be
// many, one per agent; they share one runner, which takes as many jobs as they have capacity for (keeps I4, I7).
//
// idle → starting (with the first taker) → running → stopping (when the last one stops) → idle. While it runs, a taker
// with more capacity causes the runner to be replaced. A job whose session has no taker here, or whose work fails, is
// retried later by any process.
import { EventEmitter } from "node:events";
import {
	type JobHelpers,
	Logger,
	type Runner,
	run,
	runMigrations,
	type WorkerEvents,
	type WorkerPool,
} from "graphile-worker";
import type { WorkQueue, WorkTaker } from "holdfast/host";
import { fromStored } from "holdfast/host";
import { digest } from "../digest.ts";
import { postgresError } from "../postgres-errors.ts";
import type { Store } from "../store.ts";
import { fetchByRoom } from "./fetch-by-room.ts";
import { dueAtOnce, fetchedBy, installDispatch, jobSchemaOf, mostAttempts, task } from "./install.ts";
import { PatientPool } from "./patient-pool.ts";
import { firstTime } from "./turns.ts";

/** Maximum number of connections of the runner: one listens, the others fetch and end jobs. */
const connections = 4;
/** Milliseconds between a runner's own polls, once per job it may run concurrently. Notifications wake it earlier. */
const pollMs = 60_000;
/** How long ended jobs are gathered before they are removed together, in milliseconds; no work waits for that. */
const endMs = 5;
/** Milliseconds between two scans: for workers that died, and for jobs whose notification was lost or that became due. */
const lookMs = 250;
/** Late jobs are lined up in every n-th scan. */
const looksToLineUp = 4;
/** Scans until all passed deadlines are checked again: a process may have taken one and not finished it. */
const looksToBeSure = 40;
/** Milliseconds for which a deadline is checked again: a long transaction may commit it after its time. */
const overlapMs = 5_000;
/** Maximum number of concurrent jobs of one process; each taker has a separate limit. */
const jobsAtOnce = 100;
/** Initial and maximum delay in milliseconds before a refused session is handed out again. */
const [firstRefusal, longestRefusal] = [50, 60_000];
/** Milliseconds between two updates of the stored turn. */
const noteMs = 50;

interface Taking {
	readonly taker: WorkTaker;
	/** Number of sessions it works on. */
	busy: number;
	/** Jobs that wait for capacity; the one with the lowest turn is next. */
	readonly waiting: { readonly turn: number; begin(): void }[];
	stopped: boolean;
}

/** A runner and its takers. */
interface Running {
	/** Adjusts the number of jobs that the runner fetches to the free capacity. */
	fit(): Promise<void>;
	stop(): Promise<void>;
}

/** The queue of a store. */
export interface PostgresQueue extends WorkQueue {
	/** Stops the runner. */
	close(): Promise<void>;
}

/** Creates the queue; it connects with the first taker. */
export function postgresQueue(store: Store, space: number): PostgresQueue {
	const { schema } = store;
	const takings = new Set<Taking>();
	let running: Promise<Running> | undefined;
	const turns = turnReached(store);

	async function work(payload: unknown, { job }: Pick<JobHelpers, "job">): Promise<void> {
		const { key: stored, refused = 0 } = payload as { key: string; refused?: number };
		const key = fromStored(stored);
		const taking = [...takings].find((each) => !each.stopped && each.taker.isOurs(key));
		if (taking === undefined) return giveBack(stored, refused);
		const turn = job.run_at.getTime();
		while (taking.busy >= taking.taker.atOnce && !taking.stopped)
			await new Promise<void>((begin) => taking.waiting.push({ turn, begin }));
		if (taking.stopped) return giveBack(stored, refused);
		taking.busy++;
		turns.reached(turn);
		try {
			if ((await taking.taker.work(key)) === "not-ours") await giveBack(stored, refused);
		} finally {
			taking.busy--;
			beginNext(taking);
		}
	}

	/**
	 * Hands a session of another agent back to other processes, soon at first; if none has that agent, less and less
	 * often.
	 */
	async function giveBack(stored: string, refused: number): Promise<void> {
		const wait = Math.min(firstRefusal * 2 ** refused, longestRefusal);
		await store.database.query(
			`SELECT FROM ${jobSchemaOf(schema)}.add_job('${task}', $1::json, NULL, now() + $2 * interval '1 millisecond',
				${mostAttempts}, 'now:' || $3::uuid::text, 0, NULL, 'preserve_run_at')`,
			[JSON.stringify({ key: stored, refused: refused + 1 }), wait, digest(stored)],
		);
	}

	/** Returns how many jobs the takers have capacity for. */
	function room(): number {
		const sum = [...takings].reduce((total, { taker }) => total + taker.atOnce, 0);
		return Math.min(jobsAtOnce, sum);
	}

	async function start(): Promise<Running> {
		await store.ready();
		const pool = new PatientPool({ ...store.options.queueConnection, max: connections });
		const settings = {
			pgPool: pool,
			schema: jobSchemaOf(schema),
			logger: new Logger(() => () => {}),
		};
		let runner: Runner;
		let size = room();
		let stopped = false;
		const stopping = new Set<Promise<void>>();
		// The only way to get the worker pool.
		let takes: WorkerPool | undefined;
		const events: WorkerEvents = new EventEmitter();
		const checkFit = fetchByRoom(events);
		events.on("pool:create", ({ workerPool }) => {
			takes = workerPool;
			// Identifies its jobs if this process dies.
			workerPool.id = `${fetchedBy}${store.worker.id}`;
		});

		async function launch(concurrency: number): Promise<Runner> {
			const launched = await run({
				...settings,
				preset: { worker: { localQueue: { size: concurrency }, completeJobBatchDelay: endMs } },
				concurrency,
				pollInterval: pollMs,
				noHandleSignals: true,
				taskList: { [task]: work },
				crontab: "",
				events,
			});
			// It only ends when stopped, and survives broken connections.
			launched.promise.catch(() => {});
			try {
				checkFit();
			} catch (error) {
				await launched.stop();
				throw error;
			}
			return launched;
		}

		try {
			await runMigrations(settings);
			await installDispatch(store.database, schema);
			await store.worker.register();
			runner = await launch(size);
		} catch (error) {
			await pool.end();
			throw postgresError(error);
		}
		pool.becomePatient();
		const looks = setInterval(
			() => look(size, (due) => !stopped && takes?.nudge(due)),
			Math.min(lookMs, store.options.leaseTtlMs / 6),
		);
		looks.unref();
		let changing: Promise<void> = Promise.resolve();
		return {
			fit() {
				changing = changing
					.catch(() => {})
					.then(async () => {
						const wanted = room();
						if (wanted <= size) return;
						const former = runner;
						runner = await launch(wanted);
						size = wanted;
						// It finishes the jobs it has started.
						const stopped = former.stop().catch(() => {});
						stopping.add(stopped);
						void stopped.then(() => stopping.delete(stopped));
					});
				return changing;
			},
			async stop() {
				clearInterval(looks);
				await changing.catch(() => {});
				stopped = true;
				const over = Promise.all([runner.stop().catch(() => {}), ...stopping]);
				await Promise.race([over, pool.leaves()]);
				await turns.noted();
				await pool.end().catch(() => {});
			},
		};
	}

	/** Hands out sessions of dead workers, and notifies takers of the number of due jobs. A failed scan is repeated. */
	let looking: Promise<unknown> | undefined;
	let looks = 0;
	/** Milliseconds since the epoch: earlier deadlines were already checked. */
	let dueSince = 0;
	function look(size: number, wake: (due: number) => unknown): void {
		const lineUp = ++looks % looksToLineUp === 0 ? `, ${schema}.line_up_1(${space})` : "";
		const busy = [...takings].reduce((sum, taking) => sum + taking.busy + taking.waiting.length, 0);
		const since = looks % looksToBeSure === 1 ? 0 : Math.max(0, dueSince - overlapMs);
		let isLeft = false;
		looking ??= store.database
			.once<{ due: number; deadlines: readonly [since: number, handed: number] }>(
				`SELECT (SELECT count(*) FROM (SELECT FROM ${jobSchemaOf(schema)}._private_jobs WHERE is_available = true AND priority = 0
					AND run_at <= now() LIMIT ${Math.max(0, size - busy)}) due) AS due, ${schema}.dispatch_due_2(${space}, ${since})::float8[] AS deadlines, ${schema}.dispatch_dead_2(${space}, ${store.worker.id})${lineUp}`,
			)
			.then(([row]) => {
				if (row === undefined) return;
				const [reached, handed] = row.deadlines;
				dueSince = reached;
				if (row.due > 0) wake(row.due);
				// More deadlines remain.
				isLeft = handed === dueAtOnce;
			})
			.catch(() => {})
			.finally(() => {
				looking = undefined;
				if (isLeft && running !== undefined) setImmediate(look, size, wake);
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
				await (await running).fit();
			} catch (error) {
				takings.delete(taking);
				throw error;
			}
			return {
				async stop() {
					taking.stopped = true;
					for (const { begin } of taking.waiting.splice(0)) begin();
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

/** Starts the waiting job with the lowest turn. */
function beginNext({ waiting }: Taking): void {
	if (waiting.length === 0) return;
	const first = waiting.reduce((best, each) => (each.turn < best.turn ? each : best));
	waiting.splice(waiting.indexOf(first), 1);
	first.begin();
}

/** Stores the current turn occasionally; new tenants start there. */
function turnReached({ database, schema }: Store): {
	reached(turn: number): void;
	noted(): Promise<unknown>;
} {
	let highest = 0;
	let noted = 0;
	let noting: Promise<unknown> | undefined;

	function note(): void {
		if (noting !== undefined || highest <= noted || database.closed) return;
		const turn = highest;
		noting = database
			.once(`SELECT ${schema}.note_turn_1($1)`, [turn])
			.then(() => {
				noted = turn;
			})
			.catch(() => {}) // The next update repeats it.
			.finally(() => {
				setTimeout(() => {
					noting = undefined;
					note();
				}, noteMs).unref();
			});
	}

	return {
		reached(turn) {
			if (turn >= firstTime) return;
			highest = Math.max(highest, turn);
			note();
		},
		noted: async () => noting,
	};
}
