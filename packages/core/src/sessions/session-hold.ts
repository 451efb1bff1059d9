// What this process holds of one session: the lease, and the state folded from its journal (keeps I2, I4).
import { AssistantMessage } from "@holdfast/upp";
import { type EngineAgent, foldOptions, type KeptEvent } from "../engine/index.ts";
import type { Entry } from "../facts/index.ts";
import { evolve, initialSession, PartialAnswer, type SessionState } from "../facts/index.ts";
import type { Journal, Lease, MaybePromise, Timers } from "../host/index.ts";
import { AgentState } from "../state/index.ts";
import { type StoreHere, storeHere } from "./store-here.ts";

/** Milliseconds between attempts to take a session that another living worker holds; a change is noticed earlier. */
const takeInterval = 250;
/** How many entries are read at a time when a session is opened. */
const pageSize = 1_000;

/** What the entries of a journal come to. */
interface Folded {
	readonly state: SessionState;
	/** The run of the last entry. */
	readonly lastRunId: string | undefined;
}

export class SessionHold {
	readonly #timers: Timers;
	/** The agent whose tools say how results are cut for the model. */
	readonly #agent: () => MaybePromise<EngineAgent>;
	readonly #journal: Journal;
	readonly #key: string;
	readonly #here: StoreHere;
	#lease: Lease | undefined;
	/** The run of the last entry that was folded. */
	#lastRunId: string | undefined;
	#state: SessionState | undefined;
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
		return this.#state ?? begin().state;
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
		const read = this.#journal.readChunks?.bind(this.#journal, this.#key);
		if (read === undefined) return undefined;
		// That a run was suspended was noted behind what it said.
		let after = { seq: run?.suspended === true ? seq - 1 : seq, sub: 0 };
		let said: PartialAnswer | undefined;
		for (;;) {
			const chunks = await read({ after, through: seq, limit: pageSize });
			for (const { event } of chunks as readonly { event: KeptEvent }[]) {
				if (event.type === "model_start") said = undefined;
				if (event.type !== "model") continue;
				said ??= new PartialAnswer();
				said.add(event.event);
			}
			const last = chunks.at(-1);
			if (last === undefined || chunks.length < pageSize) break;
			after = last;
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
		const { state, lastRunId } = lease.seq === 0 ? begin() : await this.#fold(this.state, lease.seq);
		this.#state = state;
		this.#lastRunId = lastRunId;
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
		this.#lastRunId = state.run?.runId;
		// What an ended run knew of its calls is not needed again.
		this.#state = { ...state, run: undefined };
	}

	/** The run was left open: what was committed elsewhere or not at all is not known here, the journal is read again. */
	left(): void {
		this.#here.driven.delete(this.#key);
		this.#state = undefined;
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
		return (await this.#fold(this.state)).state;
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

	/** Entries behind a seq; none where they were folded. */
	async #page(after: number, limit: number): Promise<readonly Entry[]> {
		try {
			return await this.#journal.read(this.#key, { after, limit });
		} catch (error) {
			if ((error as { code?: unknown }).code === "events_expired") return [];
			throw error;
		}
	}

	/** Folds what the journal holds behind a state; the entry it ended with is read again, to see that it still stands. */
	async #fold(from: SessionState, until?: number): Promise<Folded> {
		const agent = this.#agent();
		const options = foldOptions(agent instanceof Promise ? await agent : agent);
		let state = until !== undefined && until < from.seq ? begin().state : from;
		let lastRunId = this.#lastRunId;
		for (;;) {
			const known = state.seq === 0 ? 0 : 1;
			const page = await this.#page(state.seq - known, pageSize + known);
			if (known === 1 && (page[0] === undefined || page[0].runId !== (lastRunId ?? page[0].runId))) {
				state = begin().state; // another journal: the session was folded, or deleted and maybe begun anew
				continue;
			}
			for (const entry of page.slice(known)) state = evolve(state, entry, options);
			lastRunId = page.at(-1)?.runId;
			if (page.length < pageSize + known || (until !== undefined && state.seq >= until))
				return { state, lastRunId };
		}
	}
}

/** A session of which nothing was folded. */
function begin(): Folded {
	return { state: initialSession(AgentState.initial()), lastRunId: undefined };
}
