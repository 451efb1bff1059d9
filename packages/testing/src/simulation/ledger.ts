// What is really in the store, followed append by append, and what must hold of it at every moment (checks I2, I3, I4).

import type { Append, Entry } from "holdfast";
import { emptySession, foldEntries, type MemoryJournal, type SessionState } from "holdfast/host";
import { printable } from "./schedule.ts";

/** One life of a session: from its first entry until it is deleted. */
export interface SessionLife {
	readonly key: string;
	/** All that was ever committed, also what was folded since. */
	readonly entries: Entry[];
	/** The entry that replaces all up to it. */
	folded?: Entry;
	state: SessionState;
	/** The text of each input, with the seq of its fact and the world's time. */
	readonly inputs: Map<string, { readonly seq: number; readonly at: number }>;
}

export class Ledger {
	readonly #store: MemoryJournal;
	readonly #now: () => number;
	readonly #lives: Map<string, SessionLife> = new Map();
	/** Also of sessions that were deleted. */
	readonly allLives: SessionLife[] = [];
	readonly #lifeOfRun = new Map<string, SessionLife>();
	/** Highest epoch so far, by session. */
	readonly #epochs = new Map<string, number>();
	readonly #writers = new Map<string, string>();
	/** Every attempt that was ever recorded. */
	readonly attempts: Set<string> = new Set();
	/** Calls that somebody let run, each after its run. */
	readonly approved: Set<string> = new Set();
	readonly #settled = new Set<string>();
	/** The first thing that was found wrong. */
	problem: string | undefined;

	/** `now` gives the time of the world, which no process's clock can be trusted with. */
	constructor(store: MemoryJournal, now: () => number) {
		this.#store = store;
		this.#now = now;
	}

	wrong(problem: string): void {
		this.problem ??= printable(problem);
	}

	life(key: string): SessionLife {
		const known = this.#lives.get(key);
		if (known !== undefined) return known;
		const state = emptySession();
		const life: SessionLife = { key, entries: [], state, inputs: new Map() };
		this.#lives.set(key, life);
		this.allLives.push(life);
		return life;
	}

	/** The session as it is; undefined when nothing was ever committed to it, or it was deleted. */
	current(key: string): SessionLife | undefined {
		return this.#lives.get(key);
	}

	lifeOfRun(runId: string): SessionLife | undefined {
		return this.#lifeOfRun.get(runId);
	}

	/** An append has come through. */
	appended(key: string, writer: string, epoch: number, batch: Append): void {
		this.#checkWriter(key, writer, epoch);
		const life = this.life(key);
		if (batch.replaces !== undefined) {
			this.#folded(life, batch.replaces);
			return;
		}
		const added = this.#store.read(key, { after: life.entries.length }) as readonly Entry[];
		if (added.length !== batch.facts.length)
			this.wrong(`${writer} appended ${batch.facts.length} facts to ${key}, and ${added.length} came`);
		for (const entry of added) this.#follow(life, entry);
		const ended = batch.facts.at(-1);
		if (ended?.kind === "run.ended" && ended.outcome === "completed")
			this.#checkNothingWaits(key, batch.runId);
	}

	/** A session was copied, up to some entry. */
	forked(from: string, to: string): void {
		const fork = this.life(to);
		const source = this.life(from);
		const until = this.#store.head(to)?.seq ?? 0;
		fork.entries.push(...source.entries.slice(0, until));
		fork.state = foldEntries(fork.entries);
		if (source.folded !== undefined) fork.folded = source.folded;
		this.#checkKept(fork, `${to}, a fork of ${from},`);
	}

	deleted(key: string): void {
		this.#lives.delete(key);
		if (this.#store.head(key) !== undefined) this.wrong(`something of ${key} is left after its deletion`);
	}

	/** Nothing that was committed is gone or was changed. */
	checkAll(): void {
		for (const [key, life] of this.#lives) this.#checkKept(life, `the journal of ${key}`);
	}

	/** The past of a session has become one entry. It says the same of the conversation, and what comes after it stays. */
	#folded(life: SessionLife, seq: number): void {
		const [first] = this.#store.read(life.key, { limit: 1 }) as readonly Entry[];
		if (first?.fact.kind !== "folded" || first.seq !== seq) {
			this.wrong(`${life.key} was folded up to ${seq} and begins with ${first?.fact.kind} ${first?.seq}`);
			return;
		}
		life.folded = first;
		this.#checkKept(life, `the journal of ${life.key}, which was folded,`);
		const [before, after] = [life.entries.slice(0, seq), [first]].map((entries) => {
			return JSON.stringify(foldEntries(entries).agent.messages);
		});
		if (before !== after) this.wrong(`${life.key} has another conversation since it was folded`);
	}

	#checkKept({ key, entries, folded }: SessionLife, what: string): void {
		const kept = this.#store.read(key) as readonly Entry[];
		const expected = folded === undefined ? entries : [folded, ...entries.slice(folded.seq)];
		const same = kept.length === expected.length && kept.every((entry, at) => entry === expected[at]);
		if (!same) this.wrong(`${what} is not what was committed`);
	}

	#checkWriter(key: string, writer: string, epoch: number): void {
		const highest = this.#epochs.get(key) ?? 0;
		if (epoch < highest) this.wrong(`${writer} appended to ${key} under epoch ${epoch} after ${highest}`);
		this.#epochs.set(key, Math.max(epoch, highest));
		const place = `${key} ${epoch}`;
		const other = this.#writers.get(place) ?? writer;
		if (other !== writer) this.wrong(`${other} and ${writer} both appended to ${key} under epoch ${epoch}`);
		this.#writers.set(place, writer);
	}

	#follow(life: SessionLife, entry: Entry): void {
		const { fact, runId, seq } = entry;
		const { run } = life.state;
		const open = run?.status === "running" || run?.status === "waiting" ? run.runId : undefined;
		if (fact.kind === "run.started") {
			if (open !== undefined) this.wrong(`run ${runId} began in ${life.key} while ${open} was open`);
			if (this.#lifeOfRun.has(runId)) this.wrong(`run ${runId} of ${life.key} began twice`);
			this.#lifeOfRun.set(runId, life);
		} else if (open !== runId) this.wrong(`${fact.kind} of run ${runId} in ${life.key}, which was not open`);
		if (fact.kind === "input") this.#tookInput(life, textOf(fact.message), seq);
		if (fact.kind === "tool.started") this.attempts.add(`${fact.idempotencyKey} ${fact.attempt}`);
		if (fact.kind === "decision" && fact.topic === "approval") {
			const { callId, approved } = fact.answer as { readonly callId: string; readonly approved: boolean };
			if (approved) this.approved.add(`${runId} ${callId}`);
		}
		if (fact.kind === "tool.settled") {
			const call = `${runId} ${fact.callId}`;
			if (this.#settled.has(call)) this.wrong(`the call ${fact.callId} in ${life.key} was settled twice`);
			this.#settled.add(call);
		}
		life.entries.push(entry);
		if (entry.seq !== life.entries.length)
			this.wrong(`entry ${seq} of ${life.key} is at ${life.entries.length}`);
		try {
			life.state = foldEntries([entry], life.state);
		} catch (error) {
			this.wrong(`entry ${seq} of ${life.key} (${fact.kind}) cannot be folded: ${(error as Error).message}`);
		}
		if (fact.kind === "run.ended") {
			if (fact.error?.code === "journal_corrupt")
				this.wrong(`a run of ${life.key} found its journal corrupt`);
			const unanswered = callsWithoutResult(life.state.agent.messages);
			if (unanswered.length > 0)
				this.wrong(`a call without a result in ${life.key}: ${unanswered.join(", ")}`);
		}
	}

	#tookInput(life: SessionLife, text: string, seq: number): void {
		if (life.inputs.has(text)) this.wrong(`"${text}" was taken in twice by ${life.key}`);
		life.inputs.set(text, { seq, at: this.#now() });
	}

	#checkNothingWaits(key: string, runId: string): void {
		const looked = this.#store.acquire(key, { mode: "seize" });
		if (!("lease" in looked)) return;
		const waiting = (looked.lease.inbox() as readonly { kind: string; runId?: string }[]).filter(
			(input) => input.kind !== "message" && (input.runId === undefined || input.runId === runId),
		);
		if (waiting.length > 0) this.wrong(`a run of ${key} was completed while an input for it waited`);
	}
}

/** The text of a message; empty when it has none. */
export function textOf(message: object): string {
	return "text" in message && typeof message.text === "string" ? message.text : "";
}

/** Ids of calls that no later message answers. */
export function callsWithoutResult(messages: readonly object[]): readonly string[] {
	const open = new Set<string>();
	for (const message of messages as readonly {
		readonly toolCalls?: readonly { readonly toolCallId: string }[];
		readonly results?: readonly { readonly toolCallId: string }[];
	}[]) {
		for (const { toolCallId } of message.results ?? []) open.delete(toolCallId);
		for (const { toolCallId } of message.toolCalls ?? []) open.add(toolCallId);
	}
	return [...open];
}
