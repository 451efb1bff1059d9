// What this process holds of one session: the lease, and the state folded from its journal (keeps I2, I4).
import { AssistantMessage } from "@holdfast/upp";
import { type EngineAgent, foldOptions } from "../engine/index.ts";
import {
	type ChunkEvent,
	chunksAfter,
	emptySession,
	JournalReader,
	PartialAnswer,
	type SessionState,
} from "../facts/index.ts";
import type { Journal, Lease, MaybePromise, Timers } from "../host/index.ts";
import type { AgentState } from "../state/index.ts";
import { type StoreHere, storeHere } from "./store-here.ts";

/** Milliseconds between attempts to take a session that another living worker holds; a change is noticed earlier. */
const takeInterval = 250;

export class SessionHold {
	readonly #timers: Timers;
	/** The agent whose tools say how results are cut for the model. */
	readonly #agent: () => MaybePromise<EngineAgent>;
	readonly #journal: Journal;
	readonly #key: string;
	readonly #here: StoreHere;
	#lease: Lease | undefined;
	#state: SessionState | undefined;
	/** Which session of that key the state is of; undefined where only an epoch says so. */
	#incarnation: string | undefined;
	/** The epoch under which this worker appended last. */
	#epoch: number | undefined;
	/** Settles when the lease given up last is out of the way. */
	#releasing: Promise<void> | undefined;
	#wake: (() => void) | undefined;

	constructor(journal: Journal, key: string, timers: Timers, agent: () => MaybePromise<EngineAgent>) {
		this.#agent = agent;
		this.#timers = timers;
		this.#journal = journal;
		this.#key = key;
		this.#here = storeHere(journal);
	}

	/** The lease, while the session is held. */
	get lease(): Lease | undefined {
		return this.#lease?.isLost === true || this.#state === undefined ? undefined : this.#lease;
	}

	/** What was folded when the session was taken, or left by the last run. */
	get state(): SessionState {
		return this.#state ?? emptySession();
	}

	/** The run that was begun and has not ended. */
	get openRunId(): string | undefined {
		const run = this.#state?.run;
		return run !== undefined && (run.status === "running" || run.status === "waiting")
			? run.runId
			: undefined;
	}

	/** Whether the open run waits for somebody outside. */
	get waits(): boolean {
		return this.#state?.run?.status === "waiting";
	}

	/** What the model had said of an answer that never finished, where it was kept; empty when that was no text. */
	async cutOff({ seq, run }: SessionState = this.state): Promise<AssistantMessage | undefined> {
		// That a run was suspended was noted after what it said.
		const after = run?.suspended === true ? (run.saidBehind ?? seq - 1) : seq;
		let said: PartialAnswer | undefined;
		for await (const chunk of chunksAfter(this.#journal, this.#key, after, seq)) {
			const event = chunk.event as ChunkEvent;
			if (event.type === "model_start") said = undefined;
			if (event.type !== "model") continue;
			said ??= new PartialAnswer();
			said.add(event.event);
		}
		return said === undefined ? undefined : (said.message() ?? new AssistantMessage([]));
	}

	/** Takes the lease and brings the state up to date. Undefined when another living worker holds the session. */
	async take(): Promise<Lease | undefined> {
		if (this.#releasing !== undefined) await this.#releasing;
		if (this.#here.driven.has(this.#key)) return undefined;
		const acquiring = this.#journal.acquire(this.#key);
		const acquired = acquiring instanceof Promise ? await acquiring : acquiring;
		this.#here.kept.delete(this.#key);
		if (!acquired.ok) return undefined;
		const { lease } = acquired;
		if (lease.seq === 0) this.#begin();
		else {
			const reader = await this.#readOn();
			this.#state = reader.state;
			this.#incarnation = reader.incarnation;
		}
		this.#lease = lease;
		return lease;
	}

	/** The lease stands no more, or may not: the next use takes the session again and reads on. */
	drop(): void {
		this.#lease = undefined;
	}

	/** A run is driven until `over`. */
	driving(over: Promise<unknown>): void {
		this.#here.driven.set(this.#key, over);
	}

	/** The run ended: its state is where the session stands. */
	ended(state: SessionState): void {
		this.#here.driven.delete(this.#key);
		this.#epoch = this.#lease?.epoch ?? this.#epoch;
		// What an ended run knew of its calls is not needed again.
		this.#state = { ...state, run: undefined };
	}

	/** The run was left open: what was committed elsewhere or not at all is not known here, the journal is read again. */
	left(): void {
		this.#here.driven.delete(this.#key);
		this.#state = undefined;
		this.#incarnation = undefined;
		this.giveUp();
	}

	/** Lets another worker, or this one again, take the session. */
	giveUp(): void {
		const lease = this.#lease;
		this.#lease = undefined;
		if (lease === undefined || lease.isLost) return;
		this.#releasing = Promise.resolve()
			.then(() => lease.release())
			.catch(() => void this.#here.kept.add(this.#key));
	}

	/** Resolves when a lease that was given up is out of the way. */
	async released(): Promise<void> {
		await this.#releasing;
	}

	/** The conversation as committed, with what other processes added. */
	async read(): Promise<AgentState> {
		return (await this.readState()).agent;
	}

	/** All that is folded of the session. */
	async readState(): Promise<SessionState> {
		return (await this.#readOn()).state;
	}

	/** Resolves when the session may be free, or at `wake()`. */
	changed(): Promise<void> {
		return new Promise((resolve) => {
			const driven = this.#here.driven.get(this.#key);
			const stop = driven === undefined ? this.#journal.watch(this.#key, () => done()) : undefined;
			const callOff = driven === undefined ? this.#timers.after(takeInterval, () => done()) : undefined;
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

	/** Ends the wait for a change. */
	wake(): void {
		this.#wake?.();
	}

	/** A session of which nothing was folded. */
	#begin(): void {
		this.#state = emptySession();
		this.#incarnation = undefined;
		this.#epoch = undefined;
	}

	/** A reader that has folded what the journal holds beyond the state. */
	async #readOn(): Promise<JournalReader> {
		const agent = this.#agent();
		const fold = foldOptions(agent instanceof Promise ? await agent : agent);
		const { state } = this;
		const incarnation = state.seq === 0 ? undefined : (this.#incarnation ?? (await this.#heldIncarnation()));
		const reader = new JournalReader(this.#journal, this.#key, { fold, from: { state, incarnation } });
		await reader.catchUp();
		return reader;
	}

	/** Which session was created under the lease that was held last, where nobody has taken it since. */
	async #heldIncarnation(): Promise<string | undefined> {
		const epoch = this.#epoch;
		if (epoch === undefined) return undefined;
		const head = await this.#journal.head(this.#key);
		return head?.epoch === epoch ? head.incarnation : undefined;
	}
}
