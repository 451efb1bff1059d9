// The lease of one session in this process: acquired, kept between turns with the folded state, and released (keeps I4).

import { type AssistantMessage, after } from "@holdfast/upp";
import type { EngineAgent } from "../engine/index.ts";
import { type Entry, emptySession, type SessionState } from "../facts/index.ts";
import type { AcquireResult, Journal, Lease, MaybePromise, StoredInput, Timers } from "../host/index.ts";
import { cutOff, type KnownSession, readOn } from "./fold-session.ts";
import type { LocalStore } from "./local-store.ts";

/** Milliseconds between attempts to acquire a session that another living worker holds; a change is noticed earlier. */
const acquireInterval = 250;

/** The run is driven a few promises later: until then, a waiting caller checks again at once. */
const atOnce: Promise<unknown> = Promise.resolve();

/** The parts of a store that a lease needs. */
export interface LeaseStore {
	readonly journal: Journal;
	readonly local: LocalStore;
	readonly timers: Timers;
}

/** Reads a session. */
export interface LeaseReader {
	/** Returns the agent whose tools determine how results are cut for the model. */
	resolve(): MaybePromise<EngineAgent>;
}

export class SessionLease {
	readonly #store: LeaseStore;
	readonly #storeKey: string;
	readonly #reader: LeaseReader;
	#known: KnownSession | undefined;
	/** The state read while the session was not held: reading continues from it. */
	#seen: KnownSession | undefined;
	#lease: Lease | undefined;
	/** The session's queued inputs when it was acquired, until they are first requested. */
	#inbox: readonly StoredInput[] | undefined;
	/** Settles when the last lease has been released. */
	#releasing: Promise<void> | undefined;
	#wake: (() => void) | undefined;

	constructor(store: LeaseStore, storeKey: string, reader: LeaseReader) {
		this.#store = store;
		this.#storeKey = storeKey;
		this.#reader = reader;
	}

	/** The journal's lease while the session is held. */
	get current(): Lease | undefined {
		return this.#lease?.isLost === true || this.#known === undefined ? undefined : this.#lease;
	}

	/** The state when the session was acquired, or after the last run. */
	get state(): SessionState {
		return this.#known?.state ?? emptySession();
	}

	/** Returns the committed entries of a run after a position. */
	async entries(runId: string, after?: number): Promise<readonly Entry[]> {
		const options = after === undefined ? {} : { after };
		const entries = await this.#store.journal.read(this.#storeKey, options);
		return entries.filter((entry) => entry.runId === runId);
	}

	/** The id of the run that has started but not ended. */
	get openRunId(): string | undefined {
		const run = this.#known?.state.run;
		return run?.status === "running" || run?.status === "waiting" ? run.runId : undefined;
	}

	/** Whether the open run waits for an outside answer. */
	get isWaiting(): boolean {
		return this.#known?.state.run?.status === "waiting";
	}

	/** Acquires the lease and updates the state. Returns undefined while another living worker holds the session. */
	acquire(): MaybePromise<Lease | undefined> {
		if (this.#releasing !== undefined) return this.#releasing.then(() => this.#acquire());
		return this.#acquire();
	}

	#acquire(): MaybePromise<Lease | undefined> {
		const { journal, local } = this.#store;
		if (local.driven.has(this.#storeKey)) return undefined;
		return after(journal.acquire(this.#storeKey), (acquired) => this.#acquired(acquired));
	}

	#acquired(acquired: AcquireResult): MaybePromise<Lease | undefined> {
		this.#store.local.unreleased.delete(this.#storeKey);
		if (!acquired.ok) return undefined;
		const { lease } = acquired;
		this.#inbox = acquired.inbox;
		const known = (session: KnownSession): Lease => {
			this.#known = session;
			this.#seen = undefined;
			this.#lease = lease;
			return lease;
		};
		return lease.seq > 0 ? this.#readOn().then(known) : known({ state: emptySession() });
	}

	/** Returns the session's queued inputs when it was acquired, once; undefined if they were not read. */
	takeInbox(): readonly StoredInput[] | undefined {
		const inbox = this.#inbox;
		this.#inbox = undefined;
		return inbox;
	}

	/** Drops the lease because it may be stale: the next use acquires the session again and reads what was added. */
	drop(): void {
		this.#lease = undefined;
	}

	/** The start or resume of a run is recorded: from now on, no other code in this process acquires the session. */
	begun(): void {
		this.#store.local.driven.set(this.#storeKey, atOnce);
	}

	/** A run is driven until `over`. */
	driving(over: Promise<unknown>): void {
		this.#store.local.driven.set(this.#storeKey, over);
	}

	/** The run ended, and its state is now that of the session. */
	ended(state: SessionState): void {
		this.#store.local.driven.delete(this.#storeKey);
		// The data about an ended run's calls is no longer needed.
		const epoch = this.#lease?.epoch ?? this.#known?.epoch;
		this.#known = { state: { ...state, run: undefined }, incarnation: this.#known?.incarnation, epoch };
	}

	/**
	 * The run was left open: commits elsewhere and failed commits are unknown here, so the journal is read again. If the run
	 * waits, its wait was committed, and reading continues from `state`.
	 */
	left(state?: SessionState): void {
		this.#store.local.driven.delete(this.#storeKey);
		const epoch = this.#lease?.epoch ?? this.#known?.epoch;
		this.#seen = state && { state, incarnation: this.#known?.incarnation, epoch };
		this.#known = undefined;
		this.release();
	}

	/** Drops the state from memory: the session has not been used for long. */
	forget(): void {
		if (this.#lease === undefined) this.#seen = undefined;
	}

	/** Lets another worker, or this one again, acquire the session. */
	release(): void {
		const lease = this.#lease;
		this.#lease = undefined;
		if (lease === undefined || lease.isLost) return;
		const failed = (): void => void this.#store.local.unreleased.add(this.#storeKey);
		try {
			this.#releasing = lease.release()?.catch(failed);
		} catch {
			failed();
		}
	}

	/** Resolves when no lease is being released. */
	async released(): Promise<void> {
		await this.#releasing;
	}

	/** Returns the state including everything that other workers have added. */
	async read(): Promise<SessionState> {
		const read = await this.#readOn();
		if (this.#known === undefined) this.#seen = read;
		return read.state;
	}

	/** Returns the partial text of an answer that never finished; undefined if it was not stored. */
	cutOff(state: SessionState = this.state): Promise<AssistantMessage | undefined> {
		return cutOff(this.#store.journal, this.#storeKey, state);
	}

	async #readOn(): Promise<KnownSession> {
		const agent = this.#reader.resolve();
		const known = this.#known ?? this.#seen ?? { state: emptySession() };
		const engine = agent instanceof Promise ? await agent : agent;
		return readOn(this.#store.journal, this.#storeKey, engine, known);
	}

	/** Resolves when the session may be free, or at `wake()`. */
	changed(): Promise<void> {
		const { journal, local, timers } = this.#store;
		return new Promise((resolve) => {
			const driven = local.driven.get(this.#storeKey);
			const stop = driven === undefined ? journal.watch(this.#storeKey, () => done()) : undefined;
			const callOff = driven === undefined ? timers.after(acquireInterval, () => done()) : undefined;
			const done = (): void => {
				callOff?.();
				stop?.();
				this.#wake = undefined;
				resolve();
			};
			this.#wake = done;
			void driven?.then(done);
		});
	}

	/** Resolves when the number of the session's entries has changed, or at `wake()`. */
	async moved(): Promise<void> {
		const { journal } = this.#store;
		const { seq } = this.state;
		await new Promise<void>((resolve) => {
			const look = async (): Promise<void> => {
				// If the store cannot be reached, the next opening of the session encounters the error.
				const head = await Promise.resolve(journal.head(this.#storeKey)).catch(() => undefined);
				if (head?.seq !== seq) done();
			};
			const stop = journal.watch(this.#storeKey, () => void look());
			const done = (): void => {
				stop();
				this.#wake = undefined;
				resolve();
			};
			this.#wake = done;
			void look();
		});
	}

	/** Ends the wait for a change. */
	wake(): void {
		this.#wake?.();
	}
}
