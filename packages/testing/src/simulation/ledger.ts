// The true contents of the store, tracked append by append, and the invariants that hold at all times (checks I2, I3,
// I4).

import type { Append, Entry, MaybePromise, SessionHead, StoredInput } from "holdfast/host";
import { Conversation, sameConversation } from "./conversation.ts";
import { expectedErrors } from "./expected-errors.ts";
import { printable } from "./schedule.ts";

/** One incarnation of a session, from its first entry until its deletion. */
export interface SessionLife {
	readonly key: string;
	/** Every entry ever committed, including entries folded since. */
	readonly entries: Entry[];
	/** The entry that replaces all entries up to it. */
	folded?: Entry;
	conversation: Conversation;
	/** The text of each input, with the seq of its fact and the time of the simulation. */
	readonly inputs: Map<string, { readonly seq: number; readonly at: number }>;
}

export class Ledger {
	readonly #now: () => number;
	/** Error codes that only this store uses. */
	readonly #refusals: readonly string[];
	readonly #lives: Map<string, SessionLife> = new Map();
	/** Includes deleted sessions. */
	readonly allLives: SessionLife[] = [];
	readonly #lifeOfRun = new Map<string, SessionLife>();
	/** Highest epoch so far, per session. */
	readonly #epochs = new Map<string, number>();
	readonly #writers = new Map<string, string>();
	/** Every attempt ever recorded. */
	readonly attempts: Set<string> = new Set();
	/** Approved calls with their runs. */
	readonly approved: Set<string> = new Set();
	readonly #settled = new Set<string>();
	/** The first violated invariant. */
	problem: string | undefined;

	/** `now` returns the simulation's time, because clocks of processes may be wrong. */
	constructor(now: () => number, refusals: readonly string[] = []) {
		this.#refusals = refusals;
		this.#now = now;
	}

	/** Whether an operation may fail with this code. */
	expects(code: string): boolean {
		return expectedErrors.has(code) || this.refuses(code);
	}

	get mayRefuse(): boolean {
		return this.#refusals.length > 0;
	}

	/** Whether only this store uses this code. */
	refuses(code: string | undefined): boolean {
		return code !== undefined && this.#refusals.includes(code);
	}

	wrong(problem: string): void {
		this.problem ??= printable(problem);
	}

	life(key: string): SessionLife {
		const known = this.#lives.get(key);
		if (known !== undefined) return known;
		const life: SessionLife = { key, entries: [], conversation: new Conversation(), inputs: new Map() };
		this.#lives.set(key, life);
		this.allLives.push(life);
		return life;
	}

	/** Returns the current incarnation of a session; undefined if it was never committed to, or was deleted. */
	current(key: string): SessionLife | undefined {
		return this.#lives.get(key);
	}

	lifeOfRun(runId: string): SessionLife | undefined {
		return this.#lifeOfRun.get(runId);
	}

	/** Records a successful append. `seen` is the store's content after it: the new entries and the inbox. */
	appended(
		key: string,
		writer: string,
		epoch: number,
		batch: Append,
		{ added, waiting }: { readonly added: readonly Entry[]; readonly waiting: readonly StoredInput[] },
	): void {
		this.#checkWriter(key, writer, epoch);
		const life = this.life(key);
		if (added.length !== batch.facts.length)
			this.wrong(`${writer} appended ${batch.facts.length} facts to ${key}, and ${added.length} came`);
		for (const entry of added) this.#follow(life, entry);
		const ended = batch.facts.at(-1);
		if (ended?.kind === "run.ended" && ended.outcome === "completed")
			this.#checkNothingWaits(key, batch.runId, waiting);
	}

	/** Records that a session's history became one entry. The conversation must not change, and later entries stay. */
	folded(key: string, writer: string, epoch: number, { replaces }: Append, kept: readonly Entry[]): void {
		this.#checkWriter(key, writer, epoch);
		const life = this.life(key);
		const [first] = kept;
		if (first?.fact.kind !== "folded" || first.seq !== replaces) {
			this.wrong(`${key} was folded up to ${replaces} and begins with ${first?.fact.kind} ${first?.seq}`);
			return;
		}
		life.folded = first;
		this.#checkKept(life, kept, `the journal of ${key}, which was folded,`);
		const before = conversationOf(life.entries.slice(0, replaces));
		if (!sameConversation(before.messages, conversationOf([first]).messages))
			this.wrong(`${key} has another conversation since it was folded`);
	}

	/** Records that a session was copied up to an entry. */
	forked(from: string, to: string, kept: readonly Entry[]): void {
		const fork = this.life(to);
		const source = this.life(from);
		fork.entries.push(...source.entries.slice(0, kept.at(-1)?.seq ?? 0));
		if (source.folded !== undefined) fork.folded = source.folded;
		fork.conversation = conversationOf(fork.entries);
		this.#checkKept(fork, kept, `${to}, a fork of ${from},`);
	}

	deleted(key: string, left: SessionHead | undefined): void {
		this.#lives.delete(key);
		if (left !== undefined) this.wrong(`something of ${key} is left after its deletion`);
	}

	/** Checks that no committed entry was lost or changed. */
	async checkAll(read: (key: string) => MaybePromise<readonly Entry[]>): Promise<void> {
		for (const [key, life] of this.#lives) this.#checkKept(life, await read(key), `the journal of ${key}`);
	}

	#checkKept({ entries, folded }: SessionLife, kept: readonly Entry[], what: string): void {
		const expected = folded === undefined ? entries : [folded, ...entries.slice(folded.seq)];
		const same = kept.length === expected.length && kept.every((entry, at) => isSame(entry, expected[at]));
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
		const open = life.conversation.openRunId;
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
		const misplaced = life.conversation.add(entry);
		if (misplaced !== undefined) this.wrong(`entry ${seq} of ${life.key} (${fact.kind}) ${misplaced}`);
		if (fact.kind === "run.ended" && fact.error?.code === "journal_corrupt")
			this.wrong(`a run of ${life.key} found its journal corrupt`);
		if (fact.kind === "run.ended" && fact.error?.code === "RATE_LIMITED")
			this.wrong(`a run of ${life.key} was ended because its model was busy`);
	}

	#tookInput(life: SessionLife, text: string, seq: number): void {
		if (life.inputs.has(text)) this.wrong(`"${text}" was taken in twice by ${life.key}`);
		life.inputs.set(text, { seq, at: this.#now() });
	}

	#checkNothingWaits(key: string, runId: string, waiting: readonly StoredInput[]): void {
		const left = waiting.filter(
			(input) => input.kind !== "message" && (input.runId === undefined || input.runId === runId),
		);
		if (left.length > 0) this.wrong(`a run of ${key} was completed while an input for it waited`);
	}
}

/** Returns the conversation of a session that starts with these entries. */
function conversationOf(entries: readonly Entry[]): Conversation {
	const conversation = new Conversation();
	for (const entry of entries) conversation.add(entry);
	return conversation;
}

/** Compares entries: a store in memory returns the same objects, others return them as deserialised. */
function isSame(one: Entry, other: Entry | undefined): boolean {
	return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** Returns the text of a message; empty if it has none. */
export function textOf(message: object): string {
	return "text" in message && typeof message.text === "string" ? message.text : "";
}

/** Returns the ids of calls without a result in later messages. */
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
