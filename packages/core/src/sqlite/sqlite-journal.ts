// The journal in a SQLite file (keeps I2, I3, I4): several processes may share the file, each with a worker of its own.
import { resolve as resolvePath } from "node:path";
import { HoldfastError } from "@holdfast/upp";
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
import { makeChangeFeed } from "./change-feed.ts";
import { makeLongWork } from "./long-work.ts";
import { openDatabase } from "./open-database.ts";
import { makeReading } from "./patient-reads.ts";
import { parsed, type ReadableSession, readEntries, readInbox, toHead } from "./read-entries.ts";
import { sameFile } from "./same-file.ts";
import { journalFile } from "./schema.ts";
import { insertInput } from "./session-writes.ts";
import { type Operation, shareCommits } from "./shared-commits.ts";
import { sqliteChanges } from "./sqlite-changes.ts";
import { sqliteFiles } from "./sqlite-files.ts";
import { type SeenSession, SqliteLease, type Store } from "./sqlite-lease.ts";
import { sqliteRecords } from "./sqlite-records.ts";
import { sqliteRuns } from "./sqlite-runs.ts";
import { sqliteTimers } from "./sqlite-timers.ts";
import { sqliteValues } from "./sqlite-values.ts";
import { type ChunkRow, prepareStatements, type SessionView } from "./statements.ts";
import { toStored } from "./stored-text.ts";
import { registerWorker } from "./worker-row.ts";

/** Options of `sqliteJournal`. */
export interface SqliteJournalOptions {
	/** The file. It and its folders are made when they are missing, the file readable by its user only. */
	readonly path: string;
	/**
	 * What a commit survives. `process` (default): the death of the process at any moment. `power`: the loss of power
	 * too, at the price of waiting for the disk with each shared commit.
	 */
	readonly durability?: "process" | "power";
	/**
	 * Milliseconds after which a worker counts as dead whose process cannot be seen or does not move. Default 15,000.
	 * Shorter: a hung worker's sessions continue earlier; longer: less is written. Dead processes are noticed at once.
	 */
	readonly leaseTtlMs?: number;
	/** Bytes the file may grow to; appends beyond reject with `disk_full`. Default: no limit. */
	readonly maxFileSize?: number;
	/** Time of sessions, inputs and leases, in milliseconds since the epoch. Default: the system's. */
	readonly clock?: { now(): number };
	/** How large files may become that are kept beside the sessions. Default: no limit. */
	readonly files?: FileLimits;
	/** Name of this worker; no other that lives may have it on this file. Default: a random one. */
	readonly workerId?: string;
}

/** The statements that list sessions in a state. */
const viewsOf = {
	any: "viewSessions",
	changed: "viewChangedSessions",
	open: "viewOpenSessions",
	orphaned: "viewUnfinishedSessions",
	waiting: "viewWaitingSessions",
} as const;

/** A journal in a SQLite file. */
export interface SqliteJournal extends Journal {
	readonly name: "sqlite";
	/** The file, as an absolute path. */
	readonly path: string;
	/** Transactions this journal committed so far; appends that came together share one. */
	readonly transactions: number;
	/** Values kept beside the sessions, in the same file. */
	readonly values: ValueStore;
	/** Records kept beside the sessions, in the same file: what `sqliteHost` makes its execution store of. */
	readonly records: RecordSpace;
	/** Files kept beside the sessions, in the same file. */
	readonly files: FileStore;
	/** Timers of the sessions, in the same file. */
	readonly timers: TimerStore;
	/** Everything that happens in the file. */
	readonly changes: ChangeLog;
	/** Where runs are. */
	readonly runs: RunIndex;
	/**
	 * Removes what forks and removals of long sessions have left whose process died meanwhile. A journal does so by itself
	 * when it opens the file; until then such rows take room, and nobody meets them.
	 */
	sweep(): Promise<void>;
}

/**
 * Opens the journal in a file, or makes it.
 * @throws HoldfastError `journal_foreign`, `journal_newer`, `journal_corrupt`, `journal_unavailable`; the file is left alone.
 */
export function sqliteJournal(options: SqliteJournalOptions): SqliteJournal {
	const {
		durability = "process",
		leaseTtlMs = 15_000,
		maxFileSize,
		clock = { now: () => Date.now() },
	} = options;
	checkOptions(options);
	const path = options.path === ":memory:" ? options.path : resolvePath(options.path);
	const workerId = options.workerId ?? globalThis.crypto.randomUUID();
	const database = openDatabase(
		{ path, durability, ...(maxFileSize === undefined ? {} : { maxFileSize }) },
		journalFile,
	);
	const statements = prepareStatements(database);
	const check = sameFile(path);
	const commits = shareCommits(database, check);
	const held: Store["held"] = new Map();
	const holds = (): boolean => [...held.values()].some((lease) => lease.state.openRun !== null);
	const worker = registerWorker({ path, workerId, leaseTtlMs, clock, statements, holds });
	const reading = makeReading(() => store.closed, check);
	const feed = makeChangeFeed(statements);
	const now = (): number => clock.now();
	const sweep = (): Promise<void> => longWork.sweep();
	const store: Store = { statements, commits, worker, feed, held, reading, sweep, closed: false };
	let closing: Promise<void> | undefined;

	/** Commits one operation that no lease orders. */
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
		reading,
		isClosed: () => store.closed,
	});
	// What cannot be swept now is left to the next one that sweeps.
	void sweep().catch(() => {});

	const find = (key: string): SeenSession | undefined =>
		statements.findSession.get(toStored(key)) as unknown as SeenSession | undefined;

	const toRead = (key: string): ReadableSession | undefined =>
		statements.sessionToRead.get(toStored(key)) as unknown as ReadableSession | undefined;

	/** The heads from a key on, in order; they are read as they are taken. */
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
		name: "sqlite",
		folds: true,
		workerId,
		path,
		values: sqliteValues({ ...parts, now }),
		records: sqliteRecords(parts),
		files: sqliteFiles({ ...parts, now, sweep, limits: options.files ?? {} }),
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
				return { ok: true, lease: new SqliteLease(store, key, mode, seen) };
			});
		},
		async submit(key, input) {
			usable();
			return commit(
				() => insertInput(store, key, input, clock.now()),
				({ duplicate }) => {
					worker.committed();
					if (!duplicate) store.feed.committed(key);
				},
			);
		},
		inbox: (key) => reading(() => readInbox(statements, toStored(key))),
		read(key, options = {}) {
			return reading(() => {
				const session = toRead(key);
				return session === undefined ? [] : readEntries(statements, key, session, options);
			});
		},
		readChunks(key, { after, through, limit }) {
			return reading(() => {
				const session = toRead(key);
				if (session === undefined) return [];
				const { id, folded } = session;
				const rows = statements.readChunks.all(id, folded, after.seq, after.sub, through, limit);
				return (rows as unknown as ChunkRow[]).map(({ seq, sub, body }) => ({
					seq,
					sub,
					event: parsed(body, `a chunk after entry ${seq}`),
				}));
			});
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
			closing ??= close();
			return closing;
		},
	};

	async function close(): Promise<void> {
		store.closed = true;
		store.feed.stop();
		await commits.drained();
		await worker.stop();
		// A row that cannot be taken away is that of a dead worker, and counts as such.
		await commit(() => worker.leave()).catch(() => {});
		database.close();
	}
}

const known: Readonly<Record<keyof SqliteJournalOptions, true>> = {
	path: true,
	durability: true,
	leaseTtlMs: true,
	maxFileSize: true,
	clock: true,
	files: true,
	workerId: true,
};

function checkOptions(options: SqliteJournalOptions): void {
	// One that is misspelt would be left out silently, and with it what a commit is to survive.
	for (const name of Object.keys(options)) if (!Object.hasOwn(known, name)) throw unknown(name);
	const { path, durability = "process", leaseTtlMs = 15_000, maxFileSize = 1 } = options;
	if (typeof path !== "string") throw invalid("path", "the path of a file");
	if (path.startsWith("file:")) throw invalid("path", "a path, not an address");
	if (durability !== "process" && durability !== "power") throw invalid("durability", '"process" or "power"');
	if (!(leaseTtlMs > 0)) throw invalid("leaseTtlMs", "a number of milliseconds above 0");
	if (!(maxFileSize > 0)) throw invalid("maxFileSize", "a number of bytes above 0");
}

function unknown(option: string): HoldfastError {
	return new HoldfastError(
		"invalid_option",
		`The SQLite journal has no option "${option}". It has ${Object.keys(known).join(", ")}.`,
		{ data: { option } },
	);
}

function invalid(option: string, expected: string): HoldfastError {
	return new HoldfastError(
		"invalid_option",
		`The option "${option}" of the SQLite journal should be ${expected}.`,
		{
			data: { option },
		},
	);
}
