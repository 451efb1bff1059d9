// The journal in a SQLite database (keeps I2, I3, I4), over any connection. Its parameters define who else uses the
// database, which workers are alive, and how it detects others' commits.
import { journalClosed, never } from "../facts/index.ts";
import type {
	ChangeLog,
	FileLimits,
	FileStore,
	Journal,
	ListOptions,
	RecordSpace,
	RunIndex,
	SessionHead,
	TimerStore,
	ValueStore,
} from "../host/index.ts";
import { type CommitsOfOthers, makeChangeFeed } from "./change-feed.ts";
import type { SqlConnection } from "./connection.ts";
import { makeLongWork } from "./long-work.ts";
import { makeReading } from "./patient-reads.ts";
import {
	type PageHead,
	type ReadableSession,
	readChunks,
	readEntries,
	readInbox,
	readPage,
	toHead,
} from "./read-entries.ts";
import { insertInput } from "./session-writes.ts";
import { type Operation, shareCommits } from "./shared-commits.ts";
import { sqliteChanges } from "./sqlite-changes.ts";
import { journalError } from "./sqlite-errors.ts";
import { sqliteFiles } from "./sqlite-files.ts";
import { type SeenSession, SqliteLease, type Store } from "./sqlite-lease.ts";
import { sqliteRecords } from "./sqlite-records.ts";
import { sqliteRuns } from "./sqlite-runs.ts";
import { sqliteTimers } from "./sqlite-timers.ts";
import { sqliteValues } from "./sqlite-values.ts";
import { prepareStatements, type SessionView, type Statements } from "./statements.ts";
import { toStored } from "./stored-text.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** The parts of a journal in a SQLite database whose tables exist. */
export interface SqlJournalParts {
	/** A name for messages. */
	readonly name: string;
	readonly connection: SqlConnection;
	/** Name of this worker. */
	readonly workerId: string;
	readonly clock: { now(): number };
	readonly files: FileLimits;
	/** Registers this worker with those that share the database. `holds` returns whether it holds a lease now. */
	register(statements: Statements, holds: () => boolean): WorkerRegistration;
	/** Called before each use of the database, which fails if this throws. */
	check?(): void;
	/** The source of others' commits. Default: the database is polled while there are watchers. */
	readonly commitsOfOthers?: CommitsOfOthers;
	/** Closes the connection. */
	close?(): void;
}

/** The statements that list sessions in a state. */
const viewsOf = {
	any: "viewSessions",
	changed: "viewChangedSessions",
	open: "viewOpenSessions",
	orphaned: "viewUnfinishedSessions",
	waiting: "viewWaitingSessions",
} as const;

/** An input is not an entry, so followers read nothing of it. */
const noEntries = (): readonly [] => [];

/** A journal in a SQLite database, with the other data of its sessions in the same database. */
export interface SqlJournal extends Journal {
	/** Number of transactions this journal has committed; simultaneous appends share one. */
	readonly transactions: number;
	/** Values of the sessions, in the same database. */
	readonly values: ValueStore;
	/** Records of the sessions, in the same database: the basis of a host's execution store. */
	readonly records: RecordSpace;
	/** Files of the sessions, in the same database. */
	readonly files: FileStore;
	/** Timers of the sessions, in the same database. */
	readonly timers: TimerStore;
	/** All changes of the database. */
	readonly changes: ChangeLog;
	/** Finds runs. */
	readonly runs: RunIndex;
	/**
	 * Deletes rows of forks and removals whose process died. A journal sweeps by itself when it opens the database. Until
	 * then such rows take up space, but remain invisible.
	 */
	sweep(): Promise<void>;
}

/** Creates a journal over a connection. */
export function sqlJournal({
	name,
	connection,
	workerId,
	clock,
	files,
	register,
	check,
	commitsOfOthers,
	close,
}: SqlJournalParts): SqlJournal {
	const statements = prepareStatements(connection);
	const commits = shareCommits(connection, check);
	const held: Store["held"] = new Map();
	const holds = (): boolean => [...held.values()].some((lease) => lease.state.openRun !== null);
	const worker = register(statements, holds);
	const reading = makeReading({ isClosed: () => store.closed, check, run: connection.read });
	const feed = makeChangeFeed(statements, commitsOfOthers, connection.read);
	const now = (): number => clock.now();
	const sweep = (): Promise<void> => longWork.sweep();
	const store: Store = { statements, commits, worker, feed, held, reading, sweep, closed: false };
	let closing: Promise<void> | undefined;

	/** Commits one operation that belongs to no lease. */
	function commit<T>(apply: () => T, committed: (result: T) => void = () => {}): Promise<T> {
		return new Promise((resolve, reject) => {
			let result: T;
			const operation: Operation = {
				lane: {},
				apply: () => {
					result = apply();
				},
				undo: () => worker.undo(),
				committed() {
					committed(result);
					resolve(result);
				},
				failed: reject,
			};
			commits.add(operation);
		});
	}

	const longWork = makeLongWork({
		statements,
		worker,
		now,
		commit,
		// Opening a file checks for leftovers, and does not share that read.
		reading: makeReading({ isClosed: () => store.closed, check }),
		isClosed: () => store.closed,
	});
	// The next sweep deletes rows that remain now.
	void sweep().catch(() => {});

	const find = (key: string): SeenSession | undefined =>
		statements.findSession.get(toStored(key)) as unknown as SeenSession | undefined;

	const toRead = (key: string): ReadableSession | undefined =>
		statements.sessionToRead.get(toStored(key)) as unknown as ReadableSession | undefined;

	/** Yields the heads from a key on, in order, read one by one. */
	function* heads(options: ListOptions): Generator<SessionHead> {
		const { after = "", prefix = "", state = "any", changedSince = 0, dueBy = never } = options;
		const bounds = {
			any: [],
			changed: [toStored(prefix), changedSince, changedSince],
			open: [],
			orphaned: [],
			waiting: [Math.min(dueBy, never)],
		};
		const view = state === "any" && changedSince > 0 ? "changed" : state;
		const views = statements[viewsOf[view]].iterate(toStored(after), toStored(prefix), ...bounds[view]);
		for (const view of views as unknown as Iterable<SessionView>) {
			const head = toHead(view, worker);
			if (!head.key.startsWith(prefix)) return;
			if (head.updatedAt < changedSince) continue;
			if (state === "waiting" && view.last_kind !== "waiting") continue;
			if (state !== "orphaned" || isOrphaned(view, head)) yield head;
		}
	}

	function isOrphaned({ id, last_kind }: SessionView, { openRunId, parked, holder }: SessionHead): boolean {
		if (last_kind === "waiting") return false; // for somebody outside
		if (openRunId !== undefined) return parked !== true && holder?.alive !== true;
		const workers = statements.waitingWorkers.all(id) as { worker: string | null }[];
		return workers.some(({ worker: name }) => name === null || !worker.isAlive(name));
	}

	const usable = (): void => {
		if (store.closed) throw journalClosed();
	};
	const parts = {
		statements,
		worker,
		async commit<T>(apply: () => T, committed?: () => void): Promise<T> {
			usable();
			return commit(apply, committed);
		},
		reading,
	};
	return {
		name,
		folds: true,
		workerId,
		values: sqliteValues({ ...parts, now }),
		records: sqliteRecords(parts),
		files: sqliteFiles({ ...parts, now, sweep, limits: files }),
		timers: sqliteTimers({ ...parts, now, feed }),
		changes: sqliteChanges({ ...parts, feed }),
		runs: sqliteRuns(parts),
		get transactions() {
			return commits.transactions;
		},
		acquire(key, { mode = "polite" } = {}) {
			return reading(() => {
				const seen = find(key);
				if (mode === "polite" && seen !== undefined && seen.open_run !== null && seen.owner !== null) {
					const holder = worker.isOwn(seen.owner) ? undefined : worker.find(seen.owner);
					if (holder?.alive) return { ok: false, heldBy: holder.workerId };
				}
				const lease = new SqliteLease(store, key, mode, seen);
				// A session that does not exist has no inbox.
				return seen === undefined ? { ok: true, lease, inbox: [] } : { ok: true, lease };
			});
		},
		async submit(key, input) {
			usable();
			return commit(
				() => insertInput(store, key, input, clock.now()),
				({ duplicate }) => {
					worker.committed();
					if (!duplicate) store.feed.committed(key, noEntries);
				},
			);
		},
		inbox: (key) => reading(() => readInbox(statements, toStored(key))),
		read(key, options = {}) {
			return reading(() => {
				const session = toRead(key);
				return session === undefined ? [] : readEntries(statements, key, session, options);
			}, "several");
		},
		readChunks(key, { after, through, limit }) {
			return reading(() => {
				const session = toRead(key);
				if (session === undefined) return [];
				return readChunks(statements, session, { after, through, limit });
			}, "several");
		},
		readPage(key, { after, limit }) {
			return reading(() => {
				const session = statements.pageToRead.get(toStored(key)) as unknown as PageHead | undefined;
				return session && readPage(statements, key, session, { after, limit });
			}, "several");
		},
		head(key) {
			return reading(() => {
				const view = statements.viewSession.get(toStored(key)) as unknown as SessionView | undefined;
				return view === undefined ? undefined : toHead(view, worker);
			});
		},
		list(options = {}) {
			return reading(() => {
				const found: SessionHead[] = [];
				for (const head of heads(options)) {
					if (found.length === options.limit) break;
					if (head.key !== options.after) found.push(head);
				}
				return found;
			});
		},
		isAlive: (other) => reading(() => other === workerId || worker.isAlive(toStored(other))),
		deaths: () => reading(() => worker.dead().map(String)),
		watch(key, changed) {
			usable();
			return store.feed.watch(key, changed);
		},
		async fork(from, to, until) {
			usable();
			await longWork.fork({ from, to, until });
			store.feed.committed(to);
		},
		async delete(key, seen) {
			usable();
			await longWork.remove(key, seen, (session) => {
				if (session === undefined) return;
				held.get(session)?.lose();
				store.feed.committed(key);
			});
		},
		async sweep() {
			usable();
			await sweep();
		},
		close() {
			closing ??= end();
			return closing;
		},
	};

	async function end(): Promise<void> {
		store.closed = true;
		store.feed.stop();
		await commits.drained();
		await worker.stop();
		// If the row cannot be removed, it counts as that of a dead worker.
		await commit(() => worker.leave()).catch(() => {});
		try {
			close?.();
		} catch (error) {
			throw journalError(error);
		}
	}
}
