// Parts shared by the ports of one host: the database, the queue of its writes, this worker, and the feed of changes.
//
// new → ready (its tables were checked) → closed. The first call that needs the database makes it ready.
import { journalClosed } from "holdfast/host";
import { type ChangeFeed, makeChangeFeed } from "./change-feed.ts";
import { type CommitQueue, makeCommitQueue } from "./commit-queue.ts";
import { type Database, openDatabase } from "./database.ts";
import { digest } from "./digest.ts";
import { lockSpace, migrate } from "./migrate.ts";
import type { Resolved } from "./options.ts";
import type { PostgresLease } from "./postgres-lease.ts";
import { sessionConnection } from "./session-connection.ts";
import { type Statements, statements } from "./statements.ts";
import { makeSweeper } from "./sweeper.ts";
import { type WorkerRow, workerRow } from "./worker-row.ts";

/** Parts shared by the ports of one host. */
export interface Store {
	readonly options: Resolved;
	readonly schema: string;
	readonly workerId: string;
	readonly database: Database;
	readonly statements: Statements;
	readonly commits: CommitQueue;
	readonly worker: WorkerRow;
	readonly feed: ChangeFeed;
	readonly held: Map<number, PostgresLease>;
	readonly closed: boolean;
	/** Resolves when the tables exist. */
	ready(): Promise<void>;
	now(): number;
	/** Whether the worker with that stored name is alive. */
	isAlive(storedName: string): Promise<boolean>;
	/** Removes unreachable rows. */
	sweep(): Promise<void>;
	close(): Promise<void>;
}

/** Creates the store of a host; it does not connect yet. */
export function makeStore(options: Resolved): Store {
	const { schema, workerId, lasting, leaseTtlMs, pollMs } = options;
	const space = lockSpace(schema);
	const database = openDatabase(options);
	const session = sessionConnection(lasting);
	const held: Store["held"] = new Map();
	let closed = false;
	let preparing: Promise<void> | undefined;
	let closing: Promise<void> | undefined;

	function ready(): Promise<void> {
		if (closed && !preparing) return Promise.reject(journalClosed());
		preparing ??= migrate(database, schema).catch((error: unknown) => {
			preparing = undefined;
			throw error;
		});
		return preparing;
	}

	const holds = (): boolean => [...held.values()].some(({ state }) => state.openRun !== null);
	const worker = workerRow({ database, session, lasting, schema, space, workerId, leaseTtlMs, ready, holds });
	const feed = makeChangeFeed({
		database,
		session,
		schema,
		channel: `holdfast_${digest(schema).slice(0, 16)}`,
		pollMs,
		sender: globalThis.crypto.randomUUID(),
		register: () => worker.register(),
	});
	const commits = makeCommitQueue({
		database,
		schema,
		space,
		async lanes() {
			const lanes = await worker.register();
			// The next sweep removes the remaining rows.
			void sweeper.sweep().catch(() => {});
			return lanes;
		},
		restore: (lane) => worker.restore(lane),
		committed: (digests, taken) => feed.publish(digests, taken),
	});
	const sweeper = makeSweeper({
		database,
		schema,
		lives: worker.lives,
		now: () => options.clock.now(),
		isOver: () => closed,
	});

	async function close(): Promise<void> {
		closed = true;
		sweeper.stop();
		await commits.drained();
		await sweeper.idle();
		await feed.stop();
		await worker.leave();
		await session.close();
		await database.close();
	}

	return {
		options,
		schema,
		workerId,
		database,
		statements: statements(schema, worker.lives),
		commits,
		worker,
		feed,
		held,
		get closed() {
			return closed;
		},
		ready,
		now: () => options.clock.now(),
		async isAlive(storedName) {
			await ready();
			const [row] = await database.query<{ alive: boolean }>(
				`SELECT ${worker.lives("w")} AS alive FROM ${schema}.workers w WHERE w.name = $1`,
				[storedName],
			);
			return row?.alive === true;
		},
		sweep: () => sweeper.sweep(),
		close() {
			closing ??= close();
			return closing;
		},
	};
}
