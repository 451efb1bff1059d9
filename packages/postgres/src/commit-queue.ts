// Shared commits: writes of many sessions that arrive while a batch is in flight form the next batch, with one
// transaction and one round trip for all (keeps I3, I7). Writes to one session keep their order: a write waits if a batch
// in flight touches its session.
//
// A lane sends one batch at a time. Each batch has a number; the database keeps a lane's last one with its results, so
// that a batch whose answer was lost is sent again but not applied again. If a batch fails as a whole, its writes are
// retried one by one, so that a bad one does not affect the others.
import type { HoldfastError } from "@holdfast/upp";
import type { Database } from "./database.ts";
import { lockKey } from "./digest.ts";
import { isConflict, isUnavailable, postgresError } from "./postgres-errors.ts";

/** The database's answer to a write. */
export type WriteResult = readonly [outcome: string, ...data: unknown[]];

/** A write to commit. */
export interface Write {
	/** Digests of the sessions that it reads or writes. */
	readonly sessions: readonly string[];
	/** Digests of the records that it reads or writes. */
	readonly records?: readonly string[];
	/**
	 * The owner of the write. While `isFirst` is true, a batch contains at most one write of this owner, and later ones
	 * wait.
	 */
	readonly owner?: { readonly isFirst: boolean };
	/** Whether it ends other leases on its sessions. Read before the write is committed. */
	readonly takes?: boolean;
	/** Encodes the command for the database when it is sent; may throw the error that the write rejects with. */
	encode(): Readonly<Record<string, unknown>>;
	/**
	 * Returns the write in a form that the database applies together with others of its kind, before the rest of the
	 * batch; it must be the only such write to its session. Undefined if that is not possible.
	 */
	plain?(): PlainAppend | undefined;
	/** Called when it was committed or refused. */
	done(result: WriteResult): void;
	failed(error: HoldfastError): void;
}

/** An append that is applied together with others. */
export interface PlainAppend {
	readonly session: number;
	readonly epoch: number;
	readonly run: string;
	readonly at: number;
	/** Its effect on the open run of its session. */
	readonly change: string;
	/** When the run is next due; undefined leaves the time unchanged. */
	readonly look: number | null | undefined;
	readonly only: boolean;
	readonly facts: readonly { readonly kind: string; readonly version: number; readonly body: string }[];
	readonly chunks: readonly (readonly [sub: number, body: string])[];
	/** Its approximate size in bytes. */
	readonly bytes: number;
}

/** The queue of a host. */
export interface CommitQueue {
	add(write: Write): void;
	/** Adds a write without in-memory state; resolves to its result. */
	commit(write: Pick<Write, "sessions" | "records" | "takes" | "encode">): Promise<WriteResult>;
	/** Resolves when nothing is in flight. */
	drained(): Promise<void>;
	/** Batches committed so far. */
	readonly transactions: number;
}

/** The parts of a queue. */
export interface QueueParts {
	readonly database: Database;
	readonly schema: string;
	/** First number of the schema's advisory locks. */
	readonly space: number;
	/** Resolves to the worker's lanes when it may write. */
	lanes(): Promise<readonly string[]>;
	/** Restores a lane that was removed with its worker. */
	restore(lane: string): Promise<void>;
	/** Reports that sessions were written to in a shared store; leases on those of `taken` have ended. */
	committed(sessions: readonly string[], taken: ReadonlySet<string>): void;
}

/** Maximum number of writes in a batch. */
const batchSize = 256;
/** The approximate limit of text in bytes, which keeps batches short. */
const batchBytes = 4 * 1024 * 1024;
/** Lanes per host. */
export const laneCount = 2;
const conflictsAtMost = 20;

/** A write of a batch in the form that was sent. */
interface Sent {
	readonly write: Write;
	/** Text of its operation; undefined if it is plain. */
	readonly text: string | undefined;
	readonly plain: PlainAppend | undefined;
}

interface Lane {
	readonly id: string;
	number: number;
	sessions: readonly string[] | undefined;
}

type Results = readonly [
	results: readonly WriteResult[],
	appended: readonly (readonly [number: number, seq: number])[],
	/** Whether other hosts share the store. */
	isShared: boolean,
];

/** Creates the queue of a host. */
export function makeCommitQueue(parts: QueueParts): CommitQueue {
	const { database, schema, space } = parts;
	const text = `SELECT ${schema}.apply_v1(${Array.from({ length: 24 }, (_, at) => `$${at + 1}`).join()}) AS results`;
	/** Plain writes that had no effect. */
	const refused = new WeakSet<Write>();
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

	/** Takes the next writes that touch nothing in flight, in order. */
	function take(all: readonly Lane[]): readonly Sent[] {
		const busy = new Set(all.flatMap(({ sessions = [] }) => sessions));
		const first = new Set<unknown>();
		const touched = new Set<string>();
		const batch: Sent[] = [];
		const left: Write[] = [];
		let bytes = 0;
		for (const [at, write] of queue.entries()) {
			if (batch.length === batchSize || bytes > batchBytes) {
				left.push(...queue.slice(at));
				break;
			}
			const isBusy = write.sessions.some((session) => busy.has(session));
			if (first.has(write.owner) || (isBusy && write.owner?.isFirst === true)) {
				// It was added before all remaining writes and must precede them.
				left.push(...queue.slice(at));
				break;
			}
			if (isBusy) {
				for (const session of write.sessions) busy.add(session);
				left.push(write);
				continue;
			}
			try {
				const sent = encode(write, touched);
				bytes += sent.text?.length ?? sent.plain?.bytes ?? 0;
				batch.push(sent);
				// A write that may have had no effect is repeated before later ones.
				if (sent.plain?.only === true) for (const session of write.sessions) busy.add(session);
			} catch (error) {
				write.failed(postgresError(error));
				continue;
			}
			for (const session of write.sessions) touched.add(session);
			if (write.owner?.isFirst === true) first.add(write.owner);
		}
		queue = left;
		return batch;
	}

	/**
	 * Plain writes precede the others of a batch, so a session touched by one of the others cannot have a plain write.
	 */
	function encode(write: Write, touched: ReadonlySet<string>): Sent {
		const isAlone = !refused.has(write) && write.sessions.every((session) => !touched.has(session));
		const plain = isAlone ? write.plain?.() : undefined;
		return { write, plain, text: plain === undefined ? JSON.stringify(write.encode()) : undefined };
	}

	async function send(lane: Lane, batch: readonly Sent[]): Promise<void> {
		sending++;
		lane.sessions = batch.flatMap(({ write }) => write.sessions);
		try {
			await transact(lane, batch);
		} catch (error) {
			// If the server is unavailable, the commit's outcome is unknown, so nothing is retried.
			if (batch.length === 1 || isUnavailable(error) || database.closed) fail(batch, error);
			else for (const each of batch) await transact(lane, [each]).catch((reason) => fail([each], reason));
		}
		lane.sessions = undefined;
		sending--;
		if (queue.length > 0) schedule();
		settle();
	}

	function fail(batch: readonly Sent[], error: unknown): void {
		for (const { write } of batch) write.failed(postgresError(error));
	}

	async function transact(lane: Lane, batch: readonly Sent[]): Promise<void> {
		const sessions = [...new Set(batch.flatMap(({ write }) => write.sessions))];
		const taken = new Set(batch.flatMap(({ write }) => (write.takes === true ? write.sessions : [])));
		const records = new Set(batch.flatMap(({ write }) => (write.records ?? []).map(lockKey)));
		const shelves = [...records].sort((one, other) => one - other);
		const number = ++lane.number;
		const others = batch.filter(({ plain }) => plain === undefined);
		const together = batch.filter(({ plain }) => plain !== undefined);
		const texts = `[${others.map(({ text }) => text).join()}]`;
		const columns = columnsOf(together.map(({ plain }) => plain as PlainAppend));
		const values = [lane.id, number, texts, sessions, shelves, space, ...columns];
		const [results, appended, isShared] = await apply(lane, values);
		transactions++;
		const seqs = new Map(appended);
		const again: Write[] = [];
		for (const [at, { write, plain }] of together.entries()) {
			const seq = seqs.get(at + 1);
			if (seq === undefined) again.push(write);
			else write.done(["ok", plain?.session, plain?.epoch, seq]);
		}
		for (const [at, { write }] of others.entries()) write.done(results[at] as WriteResult);
		// The database reports the reason only for writes in separate batches.
		for (const write of again) refused.add(write);
		queue = [...again, ...queue];
		if (isShared && sessions.length > 0) parts.committed(sessions, taken);
	}

	async function apply(lane: Lane, values: readonly unknown[]): Promise<Results> {
		for (let attempt = 0; ; attempt++) {
			try {
				const [row] = await database.often<{ results: Results | null }>(text, values);
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
		commit: ({ sessions, records = [], takes = false, encode }) =>
			new Promise((resolve, reject) => {
				add({ sessions, records, takes, encode, done: resolve, failed: reject });
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

/**
 * Converts appends to the columns that the database expects; facts and chunks refer to their append by its number, from
 * 1.
 */
function columnsOf(appends: readonly PlainAppend[]): readonly (readonly unknown[])[] {
	const column = <T>(of: (append: PlainAppend) => T): readonly T[] => appends.map(of);
	const facts = appends.flatMap((append, at) => append.facts.map((fact, index) => ({ ...fact, at, index })));
	const chunks = appends.flatMap((append, at) => append.chunks.map(([sub, body]) => ({ sub, body, at })));
	return [
		column(({ session }) => session),
		column(({ epoch }) => epoch),
		column(({ run }) => run),
		column(({ at }) => at),
		column(({ change }) => change),
		column(({ look }) => look ?? null),
		column(({ look }) => look !== undefined),
		column(({ only }) => only),
		column(({ facts: own }) => own.length),
		column(({ facts: own }) => own.at(-1)?.kind ?? null),
		facts.map(({ at }) => at + 1),
		facts.map(({ index }) => index + 1),
		facts.map(({ kind }) => kind),
		facts.map(({ version }) => version),
		facts.map(({ body }) => body),
		chunks.map(({ at }) => at + 1),
		chunks.map(({ sub }) => sub),
		chunks.map(({ body }) => body),
	];
}
