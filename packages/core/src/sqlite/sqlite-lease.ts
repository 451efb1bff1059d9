// A lease on a session in SQLite (keeps I4). Acquiring it writes nothing: the first append takes over the session in its
// own transaction by raising the epoch, and is refused if the session has changed since it was read. Every append checks
// the epoch in its own transaction; this alone provides the fencing.

import { journalClosed, leaseLost } from "../facts/index.ts";
import type { Append, AppendResult, Lease, MaybePromise, StoredInput } from "../host/index.ts";
import { Appending } from "./appending.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { Reading } from "./patient-reads.ts";
import { readInbox } from "./read-entries.ts";
import type { SharedCommits } from "./shared-commits.ts";
import { journalError } from "./sqlite-errors.ts";
import type { Statements } from "./statements.ts";
import { fromStored, toStored } from "./stored-text.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** Parts shared within one journal. */
export interface Store {
	readonly statements: Statements;
	readonly commits: SharedCommits;
	readonly worker: WorkerRegistration;
	readonly feed: ChangeFeed;
	/** The leases this worker has taken, by the number of their session. */
	readonly held: Map<number, SqliteLease>;
	/** Reads synchronously if possible. */
	readonly reading: Reading;
	/** Deletes the leftovers of long work. */
	sweep(): Promise<void>;
	closed: boolean;
}

/** A session as read when its lease is requested. */
export interface SeenSession {
	readonly id: number;
	readonly incarnation: string;
	readonly epoch: number;
	readonly owner: number | null;
	readonly open_run: string | null;
	readonly look_at: number | null;
	readonly seq: number;
}

/** A lease's view of the session; replaced by each append and restored if its transaction fails. */
export interface LeaseState {
	readonly taken: boolean;
	/** Number of the session; undefined if it does not exist. */
	readonly session: number | undefined;
	/** Undefined until the lease is taken. */
	readonly incarnation: string | undefined;
	/** 0 if there is no session. */
	readonly epoch: number;
	readonly seq: number;
	readonly openRun: string | null;
	/** When the run is next due; null while it is in progress, or if none is open. */
	readonly lookAt: number | null;
	/** The run of the last entry, and the row that names it. */
	readonly runId: string | undefined;
	readonly runRow: number | null;
}

/**
 * For this many milliseconds after a worker was seen to hold its session, the session is not taken over: the worker would
 * have to pause for longer.
 */
const certainFor = 100;

export class SqliteLease implements Lease {
	readonly key: string;
	readonly storedKey: string;
	readonly seq: number;
	readonly openRunId?: string;
	readonly mode: "polite" | "seize";
	readonly store: Store;
	state: LeaseState;
	/** When the epoch was last seen to be current, by this process's clock. */
	seenAt: number = Number.NEGATIVE_INFINITY;
	/** Number of appends in progress. */
	pending = 0;
	#over = false;
	#notify: (() => void) | undefined;

	constructor(store: Store, key: string, mode: "polite" | "seize", seen: SeenSession | undefined) {
		this.store = store;
		this.key = key;
		this.storedKey = toStored(key);
		this.mode = mode;
		this.seq = seen?.seq ?? 0;
		const openRun = seen?.open_run ?? null;
		if (openRun !== null) this.openRunId = fromStored(openRun);
		const { seq } = this;
		const { id: session, epoch = 0 } = seen ?? {};
		const lookAt = seen?.look_at ?? null;
		const unknown = { incarnation: undefined, runId: undefined, runRow: null };
		this.state = { taken: false, session, epoch, seq, openRun, lookAt, ...unknown };
	}

	get epoch(): number {
		const { taken, session, epoch } = this.state;
		if (taken) return epoch;
		// A new session starts above the deleted ones.
		return (session === undefined ? this.#forecast() : epoch) + 1;
	}

	#forecast(): number {
		try {
			return (this.store.statements.forecastEpoch.get() as { epoch: number }).epoch;
		} catch (error) {
			throw journalError(error);
		}
	}

	get isLost(): boolean {
		return this.#over;
	}

	// Only if there is a listener does the feed poll other processes' commits for this lease.
	whenLost(notify: (() => void) | undefined): void {
		this.#notify = notify;
		if (notify === undefined) this.store.feed.ignore(this);
		else if (!this.#over && !this.store.closed) this.store.feed.listen(this);
	}

	check(): void {
		const now = performance.now();
		if (now - this.seenAt < certainFor || this.store.closed) return;
		// Others had committed nothing a moment ago, and this process tracks its own commits.
		if (this.store.feed.wasQuiet(this.seenAt, now - certainFor)) return;
		try {
			this.look();
			this.seenAt = now;
		} catch {
			// Locked at the moment: the next append finds out.
		}
	}

	/** Checks whether the epoch is still current; throws the errors of the store. */
	look(): void {
		const { taken, session, epoch } = this.state;
		if (!taken || session === undefined) return;
		const row = this.store.statements.sessionEpoch.get(session) as { epoch: number } | undefined;
		if (row?.epoch !== epoch) this.lose();
	}

	lose(): void {
		if (this.#over) return;
		this.#end();
		this.#notify?.();
	}

	append(batch: Append): Promise<AppendResult> {
		const appended = new Promise<AppendResult>((resolve, reject) => {
			if (this.store.closed) throw journalClosed();
			if (this.#over) throw leaseLost(this.key);
			this.store.commits.add(new Appending(this, batch, resolve, reject));
			this.pending++;
		});
		return batch.replaces === undefined ? appended : this.#swept(appended);
	}

	/** If many rows were folded, they are deleted after the append that folds them. */
	async #swept(appended: Promise<AppendResult>): Promise<AppendResult> {
		const result = await appended;
		await this.store.sweep().catch(() => {}); // leftovers that cannot be swept now are left to the next sweep
		return result;
	}

	inbox(): MaybePromise<readonly StoredInput[]> {
		const { statements, reading } = this.store;
		return reading(() => readInbox(statements, this.storedKey));
	}

	release(): void | Promise<void> {
		if (this.#over || this.store.closed) return;
		this.#end();
		// Any worker may take an idle session, so nothing has to be written.
		const { taken, openRun } = this.state;
		if (this.pending === 0 && (!taken || openRun === null)) return;
		return new Promise((resolve, reject) => {
			this.store.commits.add({
				lane: this,
				apply: () => {
					const { session, epoch } = this.state;
					if (session !== undefined) this.store.statements.releaseSession.run(session, epoch);
				},
				undo() {},
				committed: resolve,
				failed: reject,
			});
		});
	}

	#end(): void {
		this.#over = true;
		this.store.feed.ignore(this);
		const { session } = this.state;
		if (session !== undefined && this.store.held.get(session) === this) this.store.held.delete(session);
	}
}
