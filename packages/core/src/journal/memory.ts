// The journal in memory: the twin of the durable ones, with the same leases, epochs and inboxes (keeps I2, I4).
// Everything answers at once and throws where a durable journal rejects. Entries are kept as given, nothing is
// copied per append (keeps I5).
import type { Entry } from "./fact.ts";
import type {
	AcquireResult,
	Append,
	AppendResult,
	Journal,
	Lease,
	ListOptions,
	ReadOptions,
	SessionHead,
	StoredInput,
} from "./journal.ts";
import { journalClosed, leaseLost } from "./journal-errors.ts";
import { makeWatchers, type Watchers } from "./watchers.ts";

/** Options of `memoryJournal`. */
export interface MemoryJournalOptions {
	/** Time of sessions and inputs, in milliseconds since the epoch. Default: the system's. */
	readonly clock?: { now(): number };
	/** Name of this worker. Default: `memory`. */
	readonly workerId?: string;
}

/** A journal in memory. */
export interface MemoryJournal extends Journal {
	readonly name: "memory";
	/** Another worker over the same sessions, as another process would be. */
	worker(workerId: string): MemoryJournal;
	/** From now on the others take this worker for dead; what it still does counts until it is fenced. */
	die(): void;
}

interface Store {
	readonly clock: { now(): number };
	readonly sessions: Map<string, Session>;
	readonly workers: Map<string, Worker>;
	readonly watchers: Watchers;
	/** No session that was deleted had a higher epoch; new ones begin above. */
	highestDeletedEpoch: number;
}

interface Worker {
	readonly workerId: string;
	alive: boolean;
	closed: boolean;
}

interface Session {
	readonly key: string;
	readonly entries: Entry[];
	readonly createdAt: number;
	updatedAt: number;
	epoch: number;
	openRunId: string | undefined;
	holder: MemoryLease | undefined;
	/** The next three exist once an input came. */
	inbox: StoredInput[] | undefined;
	dedupe: Map<string, number> | undefined;
	inputs: number;
}

/** A journal that lives as long as this object and answers at once. */
export function memoryJournal(options: MemoryJournalOptions = {}): MemoryJournal {
	const store: Store = {
		clock: options.clock ?? { now: () => Date.now() },
		sessions: new Map(),
		workers: new Map(),
		watchers: makeWatchers(),
		highestDeletedEpoch: 0,
	};
	return workerOf(store, options.workerId ?? "memory");
}

function workerOf(store: Store, workerId: string): MemoryJournal {
	const worker: Worker = { workerId, alive: true, closed: false };
	store.workers.set(workerId, worker);
	const ensureOpen = (): void => {
		if (worker.closed) throw journalClosed();
	};
	return {
		name: "memory",
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
		submit(key, input) {
			ensureOpen();
			const at = store.clock.now();
			const session = store.sessions.get(key) ?? createSession(store, key, at);
			const known = input.dedupeKey === undefined ? undefined : session.dedupe?.get(input.dedupeKey);
			if (known !== undefined) return { duplicate: true, order: known };
			const order = ++session.inputs;
			if (input.dedupeKey !== undefined) {
				session.dedupe ??= new Map();
				session.dedupe.set(input.dedupeKey, order);
			}
			session.inbox ??= [];
			session.inbox.push({ ...input, order, at });
			session.updatedAt = at;
			store.watchers.changed(key);
			return { duplicate: false, order };
		},
		read(key, options: ReadOptions = {}) {
			ensureOpen();
			const after = options.after ?? 0;
			const end = options.limit === undefined ? undefined : after + options.limit;
			return store.sessions.get(key)?.entries.slice(after, end) ?? [];
		},
		head(key) {
			ensureOpen();
			const session = store.sessions.get(key);
			return session === undefined ? undefined : headOf(session);
		},
		list(options = {}) {
			ensureOpen();
			return listSessions(store, options);
		},
		watch(key, watcher) {
			ensureOpen();
			return store.watchers.add(key, watcher);
		},
		delete(key) {
			ensureOpen();
			const session = store.sessions.get(key);
			if (session === undefined) return;
			store.sessions.delete(key);
			session.epoch++;
			store.highestDeletedEpoch = Math.max(store.highestDeletedEpoch, session.epoch);
			session.holder?.lose();
			store.watchers.changed(key);
		},
		isAlive(other) {
			ensureOpen();
			return store.workers.get(other)?.alive === true;
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

/** The lease looks first; its first append takes the session, by raising the epoch, or finds it gone. */
class MemoryLease implements Lease {
	readonly key: string;
	readonly seq: number;
	readonly openRunId?: string;
	readonly worker: Worker;
	readonly #store: Store;
	readonly #mode: "polite" | "seize";
	#session: Session | undefined;
	#epoch: number;
	#state: "looked" | "taken" | "lost" = "looked";
	#notify: (() => void) | undefined;

	constructor(
		store: Store,
		worker: Worker,
		key: string,
		session: Session | undefined,
		mode: "polite" | "seize",
	) {
		this.#store = store;
		this.#session = session;
		this.#mode = mode;
		this.#epoch = session?.epoch ?? store.highestDeletedEpoch;
		this.worker = worker;
		this.key = key;
		this.seq = session?.entries.length ?? 0;
		if (session?.openRunId !== undefined) this.openRunId = session.openRunId;
	}

	get epoch(): number {
		return this.#state === "looked" ? this.#epoch + 1 : this.#epoch;
	}

	get isLost(): boolean {
		return this.#state === "lost";
	}

	whenLost(notify: (() => void) | undefined): void {
		this.#notify = notify;
	}

	lose(): void {
		if (this.#state === "lost") return;
		this.#state = "lost";
		this.#notify?.();
	}

	append(batch: Append): AppendResult {
		if (this.worker.closed) throw journalClosed();
		const session = this.#state === "taken" ? (this.#session as Session) : this.#find(batch.at);
		if (batch.onlyIfNothingWaits && somethingWaits(session, batch)) {
			return { ok: false, reason: "inputs-waiting" };
		}
		if (this.#state === "looked") this.#take(session);
		const { entries } = session;
		for (const fact of batch.facts) {
			entries.push({ seq: entries.length + 1, at: batch.at, runId: batch.runId, fact });
			if (fact.kind === "run.started") session.openRunId = batch.runId;
			else if (fact.kind === "run.ended" && session.openRunId === batch.runId) session.openRunId = undefined;
		}
		if (batch.drain !== undefined) drain(session, batch.drain);
		session.updatedAt = batch.at;
		this.#store.watchers.changed(this.key);
		return { ok: true, seq: entries.length };
	}

	inbox(): readonly StoredInput[] {
		if (this.worker.closed) throw journalClosed();
		return this.#store.sessions.get(this.key)?.inbox?.slice() ?? [];
	}

	release(): void {
		if (this.#state === "taken" && this.#session?.holder === this) this.#session.holder = undefined;
		this.#state = "lost";
	}

	/** The session as it was seen, or the end of this lease. */
	#find(at: number): Session {
		const session = this.#store.sessions.get(this.key);
		if (this.#state === "looked") {
			if (session === undefined && this.#session === undefined)
				return createSession(this.#store, this.key, at);
			if (session !== undefined && this.#stands(session)) return session;
		}
		this.lose();
		throw leaseLost(this.key);
	}

	#stands(session: Session): boolean {
		// Nobody had it when it was looked at; by now it may exist, if only for an input that came.
		if (this.#session === undefined) return session.entries.length === 0 && session.holder === undefined;
		if (session.epoch !== this.#epoch || session.openRunId !== this.openRunId) return false;
		return this.#mode === "seize" || session.entries.length === this.seq;
	}

	#take(session: Session): void {
		session.holder?.lose();
		session.holder = this;
		this.#session = session;
		this.#epoch = ++session.epoch;
		this.#state = "taken";
	}
}

function createSession(store: Store, key: string, at: number): Session {
	const session: Session = {
		key,
		entries: [],
		createdAt: at,
		updatedAt: at,
		epoch: store.highestDeletedEpoch,
		openRunId: undefined,
		holder: undefined,
		inbox: undefined,
		dedupe: undefined,
		inputs: 0,
	};
	store.sessions.set(key, session);
	return session;
}

function somethingWaits(session: Session, batch: Append): boolean {
	if (session.inbox === undefined) return false;
	return session.inbox.some(
		(input) =>
			input.kind !== "message" &&
			(input.runId === undefined || input.runId === batch.runId) &&
			batch.drain?.includes(input.id) !== true,
	);
}

function drain(session: Session, ids: readonly string[]): void {
	session.inbox = session.inbox?.filter((input) => !ids.includes(input.id));
}

function headOf(session: Session): SessionHead {
	const { key, epoch, openRunId, createdAt, updatedAt } = session;
	const waiting = session.inbox?.length ?? 0;
	const head = { key, epoch, seq: session.entries.length, createdAt, updatedAt, waiting };
	if (openRunId === undefined) return head;
	const worker = session.holder?.worker;
	if (worker === undefined) return { ...head, openRunId };
	return { ...head, openRunId, holder: { workerId: worker.workerId, alive: worker.alive } };
}

function listSessions(store: Store, options: ListOptions): SessionHead[] {
	const { after, limit = Number.POSITIVE_INFINITY, state = "any" } = options;
	const heads: SessionHead[] = [];
	for (const key of [...store.sessions.keys()].sort()) {
		if (heads.length >= limit) break;
		if (after !== undefined && key <= after) continue;
		const head = headOf(store.sessions.get(key) as Session);
		if (state !== "any" && head.openRunId === undefined) continue;
		if (state === "orphaned" && head.holder?.alive === true) continue;
		heads.push(head);
	}
	return heads;
}
