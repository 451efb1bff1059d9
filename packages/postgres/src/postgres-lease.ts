// A lease on a session in Postgres (keeps I4). Acquiring it writes nothing: the first append takes over the session in
// its own transaction by raising the epoch, and is refused if the session has changed since it was read. Every append
// checks the epoch in its own transaction, with the session's row locked; this alone fences.
//
// read → taken (its first append was committed) → ended; read → ended.

import {
	type Append,
	type AppendResult,
	type EncodedFact,
	encodeFact,
	journalClosed,
	type Lease,
	leaseLost,
	type StoredInput,
} from "holdfast/host";
import { Appending } from "./appending.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { CommitQueue } from "./commit-queue.ts";

/** Parts shared by the leases of one journal. */
export interface LeaseStore {
	readonly commits: CommitQueue;
	readonly feed: ChangeFeed;
	/** The leases that this worker has taken, by session number. */
	readonly held: Map<number, PostgresLease>;
	/** Called when the run of a dead worker was taken over. */
	tookOver(): void;
	/** Number of this worker's row. */
	worker(): number;
	inbox(digest: string): Promise<readonly StoredInput[]>;
	/** Removes unreachable rows. */
	sweep(): Promise<void>;
	readonly closed: boolean;
}

/** A session as read for a new lease. */
export interface SeenSession {
	readonly id: number;
	readonly epoch: number;
	readonly open_run: string | null;
	readonly seq: number;
}

/** The state of a session as a lease sees it. */
export interface LeaseState {
	readonly taken: boolean;
	/** Number of the session; undefined if it does not exist. */
	readonly session: number | undefined;
	readonly epoch: number;
	readonly seq: number;
	/** The stored form. */
	readonly openRun: string | null;
}

export class PostgresLease implements Lease {
	readonly key: string;
	readonly storedKey: string;
	readonly digest: string;
	readonly seq: number;
	readonly openRunId?: string;
	readonly mode: "polite" | "seize";
	/** Whether the session has an open run of a dead worker. */
	readonly isLeft: boolean;
	readonly store: LeaseStore;
	state: LeaseState;
	/** Appends in flight. */
	pending = 0;
	/** Released by its holder; appends in flight still count. */
	isReleased = false;
	#over = false;
	#notify: (() => void) | undefined;

	constructor(
		store: LeaseStore,
		about: {
			readonly key: string;
			readonly storedKey: string;
			readonly digest: string;
			readonly mode: "polite" | "seize";
			readonly isLeft: boolean;
		},
		seen: SeenSession | undefined,
		{ epoch, openRunId }: { readonly epoch: number; readonly openRunId: string | undefined },
	) {
		this.store = store;
		this.key = about.key;
		this.storedKey = about.storedKey;
		this.isLeft = about.isLeft;
		this.digest = about.digest;
		this.mode = about.mode;
		this.seq = seen?.seq ?? 0;
		if (openRunId !== undefined) this.openRunId = openRunId;
		this.state = {
			taken: false,
			session: seen?.id,
			epoch,
			seq: this.seq,
			openRun: seen?.open_run ?? null,
		};
	}

	get epoch(): number {
		return this.state.taken ? this.state.epoch : this.state.epoch + 1;
	}

	get isLost(): boolean {
		return this.#over;
	}

	/** Appends are sent one by one until the session is taken. */
	get isFirst(): boolean {
		return !this.state.taken;
	}

	// The feed watches other commits for this lease only if there is a listener.
	whenLost(notify: (() => void) | undefined): void {
		this.#notify = notify;
		if (notify === undefined) this.store.feed.ignore(this);
		else if (!this.#over && !this.store.closed) this.store.feed.listen(this);
	}

	/** Reports the session's current number and epoch; undefined if it was deleted. */
	see(session: number | undefined, epoch: number | undefined): void {
		if (!this.state.taken || (session === this.state.session && epoch === this.state.epoch)) return;
		// A state read before an append of this lease committed is outdated.
		if (session === this.state.session && epoch !== undefined && epoch < this.state.epoch) return;
		this.lose();
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
			// Encoded now, so that later changes by the caller have no effect.
			const facts: readonly EncodedFact[] = batch.facts.map(encodeFact);
			this.pending++;
			this.store.commits.add(new Appending(this, batch, facts, resolve, reject));
		});
		return batch.replaces === undefined ? appended : this.#swept(appended);
	}

	/** Folded rows are removed after the append that folds them. */
	async #swept(appended: Promise<AppendResult>): Promise<AppendResult> {
		const result = await appended;
		await this.store.sweep().catch(() => {}); // Rows that cannot be swept now are left to the next sweep.
		return result;
	}

	inbox(): Promise<readonly StoredInput[]> {
		return this.store.inbox(this.digest);
	}

	release(): void | Promise<void> {
		if (this.#over || this.store.closed) return;
		this.isReleased = true;
		this.#end();
		const { taken, openRun } = this.state;
		// An idle session is free to take, so nothing has to be written.
		if (this.pending === 0 && (!taken || openRun === null)) return;
		return this.store.commits
			.commit({
				sessions: [this.digest],
				encode: () => ({ o: "release", id: this.state.session ?? 0, e: this.state.epoch }),
			})
			.then(() => {});
	}

	/** The lease now holds the session; an earlier lease of this process has ended. */
	hold(): void {
		const session = this.state.session as number;
		this.store.held.get(session)?.lose();
		if (this.isLeft) this.store.tookOver();
		if (!this.#over) this.store.held.set(session, this);
	}

	#end(): void {
		this.#over = true;
		this.store.feed.ignore(this);
		const { session } = this.state;
		if (session !== undefined && this.store.held.get(session) === this) this.store.held.delete(session);
	}
}
