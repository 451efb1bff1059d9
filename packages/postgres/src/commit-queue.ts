// Shared commits: what many sessions write while a batch is on its way becomes the next one, a transaction and a round trip
// for all of them (keeps I3, I7). Writes to one session keep their order: those that touch a session which a batch under way
// touches wait for the next one.
//
// A lane sends one batch at a time. Each has a number; the database keeps the last one of a lane with its results, so that a
// batch whose answer was lost is sent again and not applied again. A batch that fails as a whole is tried write by write, so
// that a bad one takes no other down.
import type { HoldfastError } from "@holdfast/upp";
import type { Database } from "./database.ts";
import { lockKey } from "./digest.ts";
import { isConflict, isUnavailable, postgresError } from "./postgres-errors.ts";

/** What the database says of a write. */
export type WriteResult = readonly [outcome: string, ...data: unknown[]];

/** Something to be written. */
export interface Write {
	/** Digests of the sessions that it reads or writes. */
	readonly sessions: readonly string[];
	/** Digests of the records that it reads or writes. */
	readonly records?: readonly string[];
	/** Writes of one object, of which no second one may be in a batch as long as `isFirst` says so. Nothing overtakes that one. */
	readonly owner?: { readonly isFirst: boolean };
	/** What the database is to do, asked for when it is sent; may throw what the write rejects with. */
	encode(): Readonly<Record<string, unknown>>;
	/** It was committed, or refused. */
	done(result: WriteResult): void;
	failed(error: HoldfastError): void;
}

/** The queue of a host. */
export interface CommitQueue {
	add(write: Write): void;
	/** Adds a write that nothing waits on in memory; resolves to its result. */
	commit(write: Pick<Write, "sessions" | "records" | "encode">): Promise<WriteResult>;
	/** Resolves when nothing is under way. */
	drained(): Promise<void>;
	/** Batches committed so far. */
	readonly transactions: number;
}

/** What a queue needs. */
export interface QueueParts {
	readonly database: Database;
	readonly schema: string;
	/** First number of the schema's advisory locks. */
	readonly space: number;
	/** Resolves when the worker may write, to the lanes it has. */
	lanes(): Promise<readonly string[]>;
	/** Makes a lane anew that was taken away with its worker. */
	restore(lane: string): Promise<void>;
	/** Sessions were written to. */
	committed(sessions: readonly string[]): void;
}

/** How many writes a batch has at most. */
const batchSize = 256;
/** How many bytes of text, about, so that a batch is no long one. */
const batchBytes = 4 * 1024 * 1024;
/** How many lanes a host has. */
export const laneCount = 2;
const conflictsAtMost = 20;

interface Lane {
	readonly id: string;
	number: number;
	sessions: readonly string[] | undefined;
}

/** Makes the queue of a host. */
export function makeCommitQueue(parts: QueueParts): CommitQueue {
	const { database, schema, space } = parts;
	let queue: Write[] = [];
	let lanes: Lane[] | undefined;
	let scheduled = false;
	let sending = 0;
	let transactions = 0;
	let waiters: (() => void)[] = [];

	function schedule(): void {
		if (scheduled) return;
		scheduled = true;
		setImmediate(() => {
			scheduled = false;
			if (lanes === undefined) void open();
			else pump(lanes);
		});
	}

	async function open(): Promise<void> {
		if (sending > 0) return;
		sending++;
		try {
			const ids = await parts.lanes();
			lanes = ids.map((id) => ({ id, number: 0, sessions: undefined }));
		} catch (error) {
			const failed = queue;
			queue = [];
			for (const write of failed) write.failed(postgresError(error));
		}
		sending--;
		if (lanes !== undefined) pump(lanes);
		settle();
	}

	function pump(all: readonly Lane[]): void {
		for (const lane of all) {
			if (lane.sessions !== undefined || queue.length === 0) continue;
			const batch = take(all);
			if (batch.length > 0) void send(lane, batch);
		}
	}

	/** The next writes that touch nothing which is under way, in order. */
	function take(all: readonly Lane[]): readonly [Write, string][] {
		const busy = new Set(all.flatMap(({ sessions = [] }) => sessions));
		const first = new Set<unknown>();
		const batch: [Write, string][] = [];
		const left: Write[] = [];
		let bytes = 0;
		for (const [at, write] of queue.entries()) {
			if (batch.length === batchSize || bytes > batchBytes) {
				left.push(...queue.slice(at));
				break;
			}
			const isBusy = write.sessions.some((session) => busy.has(session));
			if (first.has(write.owner) || (isBusy && write.owner?.isFirst === true)) {
				// It was added before all others that are left, and is to come before them.
				left.push(...queue.slice(at));
				break;
			}
			if (isBusy) {
				for (const session of write.sessions) busy.add(session);
				left.push(write);
				continue;
			}
			try {
				const text = JSON.stringify(write.encode());
				bytes += text.length;
				batch.push([write, text]);
			} catch (error) {
				write.failed(postgresError(error));
				continue;
			}
			if (write.owner?.isFirst === true) first.add(write.owner);
		}
		queue = left;
		return batch;
	}

	async function send(lane: Lane, batch: readonly (readonly [Write, string])[]): Promise<void> {
		sending++;
		lane.sessions = batch.flatMap(([{ sessions }]) => sessions);
		try {
			await transact(lane, batch);
		} catch (error) {
			// Whether it was committed is not known where the server is away: then nothing is tried again.
			if (batch.length === 1 || isUnavailable(error) || database.closed) fail(batch, error);
			else for (const each of batch) await transact(lane, [each]).catch((reason) => fail([each], reason));
		}
		lane.sessions = undefined;
		sending--;
		if (queue.length > 0) schedule();
		settle();
	}

	function fail(batch: readonly (readonly [Write, string])[], error: unknown): void {
		for (const [write] of batch) write.failed(postgresError(error));
	}

	async function transact(lane: Lane, batch: readonly (readonly [Write, string])[]): Promise<void> {
		const sessions = [...new Set(batch.flatMap(([write]) => write.sessions))];
		const records = new Set(batch.flatMap(([write]) => (write.records ?? []).map(lockKey)));
		const shelves = [...records].sort((one, other) => one - other);
		const number = ++lane.number;
		const values = [lane.id, number, `[${batch.map(([, text]) => text).join()}]`, sessions, shelves, space];
		const results = await apply(lane, values);
		transactions++;
		for (const [at, [write]] of batch.entries()) write.done(results[at] as WriteResult);
		if (sessions.length > 0) parts.committed(sessions);
	}

	async function apply(lane: Lane, values: readonly unknown[]): Promise<readonly WriteResult[]> {
		for (let attempt = 0; ; attempt++) {
			try {
				const [row] = await database.query<{ results: readonly WriteResult[] | null }>(
					`SELECT ${schema}.apply_v1($1, $2, $3, $4, $5, $6) AS results`,
					values,
				);
				if (row?.results != null) return row.results;
				await parts.restore(lane.id);
			} catch (error) {
				const { cause = error } = error as { cause?: unknown };
				if (!isConflict(cause) || attempt > conflictsAtMost) throw error;
			}
		}
	}

	function settle(): void {
		if (queue.length > 0 || sending > 0) return;
		for (const resolve of waiters) resolve();
		waiters = [];
	}

	function add(write: Write): void {
		queue.push(write);
		schedule();
	}

	return {
		add,
		commit: ({ sessions, records = [], encode }) =>
			new Promise((resolve, reject) => {
				add({ sessions, records, encode, done: resolve, failed: reject });
			}),
		async drained() {
			if (queue.length === 0 && sending === 0) return;
			await new Promise<void>((resolve) => waiters.push(resolve));
		},
		get transactions() {
			return transactions;
		},
	};
}
