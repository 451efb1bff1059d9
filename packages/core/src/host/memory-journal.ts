// The in-memory journal: the counterpart of the durable ones, with the same leases, epochs and inboxes (keeps I2, I4).
// Everything is synchronous and throws where a durable journal rejects. Entries are stored unchanged, without copies per
// append (keeps I5).
import { checkOptions, optionNames } from "@holdfast/upp";
import type { Entry, StoredChunk } from "../facts/index.ts";
import {
	eventsExpired,
	forkUnsettled,
	isSettledAt,
	journalClosed,
	leaseLost,
	lookAt,
	never,
	sessionExists,
} from "../facts/index.ts";
import type {
	AcquireResult,
	Input,
	Journal,
	ListOptions,
	ReadChunks,
	ReadOptions,
	SessionHead,
	StoredInput,
} from "./journal.ts";
import { MemoryLease } from "./memory-lease.ts";
import { noteChange, noteDeletion } from "./memory-order.ts";
import { createSession, lastSeq, newStore, type Session, type Store, type Worker } from "./memory-store.ts";

const memoryJournalNames = optionNames<MemoryJournalOptions>({ clock: "object", workerId: "text" });

/** Options of `memoryJournal`. */
export interface MemoryJournalOptions {
	/** The clock for sessions and inputs, in milliseconds since the epoch. Default: the system's. */
	readonly clock?: { now(): number };
	/** Name of this worker. Default: `memory`. */
	readonly workerId?: string;
}

/** A journal in memory. */
export interface MemoryJournal extends Journal {
	readonly name: "memory";
	read(key: string, options?: ReadOptions): readonly Entry[];
	inbox(key: string): readonly StoredInput[];
	head(key: string): SessionHead | undefined;
	list(options?: ListOptions): readonly SessionHead[];
	/** Creates another worker over the same sessions, like another process. */
	worker(workerId: string): MemoryJournal;
	/** Makes other workers treat this one as dead. Its work is still accepted until it is fenced. */
	die(): void;
}

/** Creates a synchronous journal that lives as long as this object. */
export function memoryJournal(options: MemoryJournalOptions = {}): MemoryJournal {
	checkOptions(options, memoryJournalNames, { of: "memoryJournal()" });
	return workerOf(newStore(options.clock), options.workerId ?? "memory");
}

/** Creates a worker over the sessions of a store. */
export function workerOf(store: Store, workerId: string): MemoryJournal {
	const worker: Worker = { workerId, alive: true, closed: false };
	store.workers.set(workerId, worker);
	const ensureOpen = (): void => {
		if (worker.closed) throw journalClosed();
	};
	return {
		name: "memory",
		volatile: true,
		folds: true,
		workerId,
		acquire(key, options): AcquireResult {
			ensureOpen();
			const session = store.sessions.get(key);
			const holder = session?.openRunId === undefined ? undefined : session.holder?.worker;
			const mode = options?.mode ?? "polite";
			if (mode === "polite" && holder?.alive === true && holder !== worker) {
				return { ok: false, heldBy: holder.workerId };
			}
			return { ok: true, lease: new MemoryLease(store, worker, key, session, mode) };
		},
		submit(key, { askedBy, ...kept }) {
			ensureOpen();
			if (askedBy !== undefined && !isAsking(store, askedBy)) throw leaseLost(askedBy.key);
			const at = store.clock.now();
			const session = store.sessions.get(key) ?? createSession(store, key, at);
			const { dedupeKey } = kept;
			const known = dedupeKey === undefined ? undefined : session.dedupe?.get(dedupeKey);
			if (known !== undefined) return { duplicate: true, order: known };
			const order = ++session.inputs;
			if (dedupeKey !== undefined) {
				session.dedupe ??= new Map();
				session.dedupe.set(dedupeKey, order);
			}
			session.inbox ??= [];
			session.inbox.push(Object.assign(kept, { order, at }));
			session.updatedAt = at;
			noteChange(store.order, session, "changed");
			store.watchers.changed(key);
			return { duplicate: false, order };
		},
		inbox(key) {
			ensureOpen();
			return store.sessions.get(key)?.inbox?.slice() ?? [];
		},
		read(key, options: ReadOptions = {}) {
			ensureOpen();
			const after = options.after ?? 0;
			const entries = store.sessions.get(key)?.entries ?? [];
			const [first] = entries;
			const gone = (first?.seq ?? 1) - 1;
			if (first !== undefined && after > 0 && after < gone) throw eventsExpired(key, after, first.seq);
			const start = Math.max(0, after - gone);
			return entries.slice(start, options.limit === undefined ? undefined : start + options.limit);
		},
		readChunks(key, { after, through, limit }) {
			ensureOpen();
			const chunks = store.sessions.get(key)?.chunks ?? [];
			const first = chunks.findIndex((chunk) => isAfter(chunk, after));
			if (first < 0) return [];
			return chunks.slice(first, first + limit).filter(({ seq }) => seq <= through);
		},
		head(key) {
			ensureOpen();
			const session = store.sessions.get(key);
			return session === undefined ? undefined : headOf(store, session);
		},
		list(options = {}) {
			ensureOpen();
			return listSessions(store, options);
		},
		watch(key, watcher) {
			ensureOpen();
			return store.watchers.add(key, watcher);
		},
		fork(from, to, until) {
			ensureOpen();
			const source = store.sessions.get(from);
			const { entries, openRunId } = source ?? { entries: [], openRunId: undefined };
			const at = entries.findLastIndex(({ seq }) => seq === until);
			const [kind, next] = [entries[at]?.fact.kind, entries[at + 1]?.fact.kind];
			if (!isSettledAt({ kind, next, isOpen: openRunId !== undefined })) throw forkUnsettled(from, until);
			if (store.sessions.has(to)) throw sessionExists(to);
			const fork = createSession(store, to, store.clock.now());
			for (let index = 0; index <= at; index++) fork.entries.push(entries[index] as Entry);
			noteChange(store.order, fork, "changed");
			store.watchers.changed(to);
		},
		delete(key, seen) {
			ensureOpen();
			const session = store.sessions.get(key);
			if (session === undefined) return;
			if (seen !== undefined && (seen.epoch !== session.epoch || seen.seq !== lastSeq(session)))
				throw leaseLost(key);
			store.sessions.delete(key);
			noteDeletion(store.order, session, lastSeq(session));
			for (const forget of store.deleted) forget(key);
			session.epoch++;
			store.highestDeletedEpoch = Math.max(store.highestDeletedEpoch, session.epoch);
			session.holder?.lose();
			store.watchers.changed(key);
		},
		isAlive(other) {
			ensureOpen();
			return store.workers.get(other)?.alive === true;
		},
		deaths() {
			ensureOpen();
			return [...store.workers.values()].flatMap(({ workerId: name, alive }) => (alive ? [] : [name]));
		},
		close() {
			worker.closed = true;
			worker.alive = false;
		},
		worker: (other) => workerOf(store, other),
		die() {
			worker.alive = false;
		},
	};
}

function isAfter(chunk: StoredChunk, after: ReadChunks["after"]): boolean {
	return chunk.seq > after.seq || (chunk.seq === after.seq && chunk.sub > after.sub);
}

function headOf(store: Store, session: Session): SessionHead {
	const { key, number, epoch, openRunId, createdAt, updatedAt } = session;
	const incarnation = store.incarnationOf(number);
	const waiting = session.inbox?.length ?? 0;
	const head = { key, incarnation, epoch, seq: lastSeq(session), createdAt, updatedAt, waiting };
	if (openRunId === undefined) return head;
	const worker = session.holder?.worker;
	const parked = session.entries.at(-1)?.fact.kind === "run.parked" ? { parked: true as const } : {};
	const open = { ...head, openRunId, ...parked };
	return worker === undefined
		? open
		: { ...open, holder: { workerId: worker.workerId, alive: worker.alive } };
}

function isOrphaned(
	store: Store,
	{ entries, inbox = [] }: Session,
	{ openRunId, parked, holder }: SessionHead,
): boolean {
	if (entries.at(-1)?.fact.kind === "waiting") return false; // for somebody outside
	if (openRunId !== undefined) return parked !== true && holder?.alive !== true;
	// A message for an ended run becomes a separate turn, which any process may start: the sender already has the run's
	// handle.
	return inbox.some(({ kind, workerId = "" }) => {
		if (kind === "steer") return workerId !== "";
		return kind === "message" && store.workers.get(workerId)?.alive !== true;
	});
}

function listSessions(store: Store, options: ListOptions): SessionHead[] {
	const {
		after,
		prefix = "",
		limit = Number.POSITIVE_INFINITY,
		state = "any",
		changedSince = 0,
		dueBy,
	} = options;
	const found: Session[] = [];
	for (const session of store.sessions.values()) {
		const { key, openRunId, inbox = [] } = session;
		// Most sessions are idle, so a filter for other states skips them early.
		if (state !== "any" && openRunId === undefined && (state !== "orphaned" || inbox.length === 0)) continue;
		if (!key.startsWith(prefix) || (after !== undefined && key <= after)) continue;
		if (session.updatedAt < changedSince) continue;
		if (state === "waiting" && !waits(session, dueBy)) continue;
		if (state === "orphaned" && !isOrphaned(store, session, headOf(store, session))) continue;
		found.push(session);
	}
	found.sort((one, other) => (one.key < other.key ? -1 : 1));
	return found.slice(0, limit).map((session) => headOf(store, session));
}

function waits({ entries }: Session, dueBy = never): boolean {
	const last = entries.at(-1)?.fact;
	return last?.kind === "waiting" && (lookAt([last], null) ?? never) <= dueBy;
}

function isAsking(store: Store, { key, runId, incarnation }: NonNullable<Input["askedBy"]>): boolean {
	const session = store.sessions.get(key);
	if (session === undefined) return false;
	if (incarnation !== undefined && incarnation !== store.incarnationOf(session.number)) return false;
	return runId === undefined || session.openRunId === runId;
}
