// The calls of a round: which have joined, which wait for others, and how many have no result yet. Calls of code can join
// while others are open, at a cost that depends only on the open ones (keeps I5).
import type { ToolCall } from "@holdfast/upp";
import type { CallState, Fact } from "../facts/index.ts";
import { callOfFact } from "./call-facts.ts";
import { type CallInRound, isUnderWay, joinRound } from "./call-in-round.ts";
import type { Run } from "./run.ts";

const none: readonly CallInRound[] = [];

export class RoundCalls implements Iterable<CallInRound> {
	readonly #run: Run;
	readonly #name: string;
	/** The calls in order. Once most of them have their results, those are dropped. */
	#calls: CallInRound[];
	#cyclic: ReadonlyMap<string, string>;
	/** How many calls have joined. */
	#joined: number;
	/** How many of `#calls` have their results. */
	#settled = 0;
	/** Calls that have joined since `takeFresh`. */
	#fresh: readonly CallInRound[];
	/** The calls that wait for a call, by its id; undefined if no call waits for another. */
	#followers: Map<string, CallInRound[]> | undefined;

	/** `name` identifies the round within the run. */
	constructor(run: Run, name: string, states: readonly CallState[], madeBy: "answer" | "code") {
		this.#run = run;
		this.#name = name;
		const joins = { madeBy, earlier: 0, open: none };
		({ joined: this.#calls, cyclic: this.#cyclic } = joinRound(run, name, states, joins));
		this.#joined = this.#calls.length;
		this.#fresh = this.#calls;
		this.#follow(this.#calls);
		for (const each of this.#calls) if (each.phase === "settled") this.settled(each);
	}

	[Symbol.iterator](): Iterator<CallInRound> {
		return this.#calls[Symbol.iterator]();
	}

	/** How many calls have no result. */
	get left(): number {
		return this.#calls.length - this.#settled;
	}

	/** Whether a call will progress without an outside answer. */
	get isUnderWay(): boolean {
		return this.#calls.some(isUnderWay);
	}

	/** Explains why the call waits for itself; undefined if it does not. */
	cycleOf({ toolCallId }: ToolCall): string | undefined {
		return this.#cyclic.get(toolCallId);
	}

	find(toolCallId: string): CallInRound | undefined {
		return this.#calls.find(({ call }) => call.toolCallId === toolCallId);
	}

	/** Returns the calls in a phase. */
	in(wanted: CallInRound["phase"]): readonly CallInRound[] {
		return this.#calls.filter(({ phase }) => phase === wanted);
	}

	/** Returns the outside facts of waiting calls, and these calls in their next phase. Drops facts of other calls. */
	answeredBy(given: readonly Fact[]): {
		readonly facts: readonly Fact[];
		readonly answered: readonly CallInRound[];
	} {
		const waiting = new Map(this.in("pending").map((each) => [each.call.toolCallId, each]));
		const answered = new Set<CallInRound>();
		const facts = given.filter((fact) => {
			const callId = callOfFact(fact);
			if (callId === undefined) return true;
			const each = waiting.get(callId);
			if (each === undefined) return false;
			if (each.phase !== "settling") each.phase = fact.kind === "tool.settled" ? "settling" : "answering";
			answered.add(each);
			return true;
		});
		return { facts, answered: [...answered] };
	}

	/** Returns the calls that have joined since the last time. */
	takeFresh(): readonly CallInRound[] {
		const fresh = this.#fresh;
		this.#fresh = none;
		return fresh;
	}

	/** Adds calls of code. */
	add(states: readonly CallState[]): void {
		if (this.#settled * 2 > this.#calls.length) {
			this.#calls = this.#calls.filter(({ phase }) => phase !== "settled");
			this.#settled = 0;
		}
		const joins = { madeBy: "code", earlier: this.#joined, open: this.#calls } as const;
		const { joined, cyclic } = joinRound(this.#run, this.#name, states, joins);
		for (const each of joined) this.#calls.push(each);
		this.#follow(joined);
		this.#fresh = [...this.#fresh, ...joined];
		this.#cyclic = cyclic;
		this.#joined += joined.length;
	}

	/** Removes calls that were added last, and returns them. */
	remove(calls: readonly ToolCall[]): ReadonlySet<CallInRound> {
		const ids = new Set(calls.map(({ toolCallId }) => toolCallId));
		const removed = new Set(this.#calls.filter(({ call }) => ids.has(call.toolCallId)));
		const isKept = (each: CallInRound): boolean => !removed.has(each);
		for (const { phase } of removed) if (phase === "settled") this.#settled--;
		this.#calls = this.#calls.filter(isKept);
		for (const [id, followers] of this.#followers ?? []) this.#followers?.set(id, followers.filter(isKept));
		this.#fresh = this.#fresh.filter(isKept);
		this.#joined -= removed.size;
		return removed;
	}

	/** A call has its result. Returns the calls that waited only for it. */
	settled({ call: { toolCallId } }: CallInRound): readonly CallInRound[] {
		this.#settled++;
		const followers = this.#followers?.get(toolCallId);
		if (followers === undefined) return none;
		this.#followers?.delete(toolCallId);
		return followers.filter(
			({ waitsFor, phase }) => waitsFor.delete(toolCallId) && waitsFor.size === 0 && phase === "waiting",
		);
	}

	#follow(joined: readonly CallInRound[]): void {
		for (const each of joined)
			for (const id of each.waitsFor) {
				this.#followers ??= new Map();
				const others = this.#followers.get(id);
				if (others === undefined) this.#followers.set(id, [each]);
				else others.push(each);
			}
	}
}
