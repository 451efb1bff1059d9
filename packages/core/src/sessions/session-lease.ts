// The lease of one session in this process: acquired, kept between turns with the folded state, released (keeps I4).

import { type AssistantMessage, after } from "@holdfast/upp";
import type { EngineAgent } from "../engine/index.ts";
import { type Entry, emptySession, type SessionState } from "../facts/index.ts";
import type { AcquireResult, Journal, Lease, MaybePromise, StoredInput, Timers } from "../host/index.ts";
import { cutOff, type KnownSession, readOn } from "./fold-session.ts";
import type { LocalStore } from "./local-store.ts";

/** Milliseconds between attempts to acquire a session that another living worker holds; a change is noticed earlier. */
const acquireInterval = 250;

/** It is driven a few promises later: a waiting caller looks again until then. */
const atOnce: Promise<unknown> = Promise.resolve();

/** What a lease needs to know of its store. */
export interface LeaseStore {
	readonly journal: Journal;
	readonly local: LocalStore;
	readonly timers: Timers;
}

/** For whom a session is read. */
export interface LeaseReader {
	/** The agent whose tools say how results are cut for the model. */
	resolve(): MaybePromise<EngineAgent>;
}

export class SessionLease {
	readonly #store: LeaseStore;
	readonly #storeKey: string;
	readonly #reader: LeaseReader;
	#known: KnownSession | undefined;
	/** What was read while the session was not held: it is read on from there. */
	#seen: KnownSession | undefined;
	#lease: Lease | undefined;
	/** What waited for the session, where it was seen when it was acquired and nobody has asked for it yet. */
	#inbox: readonly StoredInput[] | undefined;
	/** Settles when the lease released last is out of the way. */
	#releasing: Promise<void> | undefined;
	#wake: (() => void) | undefined;

	constructor(store: LeaseStore, storeKey: string, reader: LeaseReader) {
		this.#store = store;
		this.#storeKey = storeKey;
		this.#reader = reader;
	}

	/** The journal's lease, while the session is held. */
	get current(): Lease | undefined {
		return this.#lease?.isLost === true || this.#known === undefined ? undefined : this.#lease;
	}

	/** The state as it was when the session was acquired, or as the last run left it. */
	get state(): SessionState {
		return this.#known?.state ?? emptySession();
	}

	/** What is committed of a run, after a position. */
	async entries(runId: string, after?: number): Promise<readonly Entry[]> {
		const options = after === undefined ? {} : { after };
		const entries = await this.#store.journal.read(this.#storeKey, options);
		return entries.filter((entry) => entry.runId === runId);
	}

	/** The run that was begun and has not ended. */
	get openRunId(): string | undefined {
		const run = this.#known?.state.run;
		return run?.status === "running" || run?.status === "waiting" ? run.runId : undefined;
	}

	/** Whether the open run waits for somebody outside. */
	get isWaiting(): boolean {
		return this.#known?.state.run?.status === "waiting";
	}

	/** Acquires the lease and brings the state up to date. Undefined while another living worker holds the session. */
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

	/** What waited for the session when it was acquired, once; undefined where that was not seen. */
	takeInbox(): readonly StoredInput[] | undefined {
		const inbox = this.#inbox;
		this.#inbox = undefined;
		return inbox;
	}

	/** The lease may be stale: the next use acquires the session again and reads what was added. */
	drop(): void {
		this.#lease = undefined;
	}

	/** A run was begun or resumed on record: from now on nobody else in this process acquires the session. */
	begun(): void {
		this.#store.local.driven.set(this.#storeKey, atOnce);
	}

	/** A run is driven until `over`. */
	driving(over: Promise<unknown>): void {
		this.#store.local.driven.set(this.#storeKey, over);
	}

	/** The run ended: its state is that of the session. */
	ended(state: SessionState): void {
		this.#store.local.driven.delete(this.#storeKey);
		// What an ended run knew of its calls is not needed again.
		const epoch = this.#lease?.epoch ?? this.#known?.epoch;
		this.#known = { state: { ...state, run: undefined }, incarnation: this.#known?.incarnation, epoch };
	}

	/** The run was left open: what was committed elsewhere or not at all is not known here, the journal is read again. */
	left(): void {
		this.#store.local.driven.delete(this.#storeKey);
		this.#known = undefined;
		this.release();
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

	/** Resolves when a lease that is being released is out of the way. */
	async released(): Promise<void> {
		await this.#releasing;
	}

	/** The state with all that anybody has added. */
	async read(): Promise<SessionState> {
		const read = await this.#readOn();
		if (this.#known === undefined) this.#seen = read;
		return read.state;
	}

	/** What the model had said of an answer that never finished; undefined when it was not kept. */
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

	/** Resolves when the session has more or fewer entries than now, or at `wake()`. */
	async moved(): Promise<void> {
		const { journal } = this.#store;
		const { seq } = this.state;
		await new Promise<void>((resolve) => {
			const look = async (): Promise<void> => {
				// Where the store cannot be asked, whoever opens the session next learns of it.
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
