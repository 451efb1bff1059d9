// The events of a streamed call, for one consumer (keeps I7). Beyond a limit, it buffers the facts of the call instead,
// whose messages are in the call's state anyway. When the consumer reaches them, they are converted back to events, with
// the model's text in one piece.
import type { AssistantMessage, StreamEvent } from "@holdfast/upp";
import { type AgentStreamEvent, EventQueue, joinDeltas, uapProjection } from "../engine/index.ts";
import { type Entry, type Fact, JournalFold, type RunEvent, type SessionState } from "../facts/index.ts";

/** The facts of one commit of a call. */
export interface CommittedFacts {
	/** The state before the facts. */
	readonly before: SessionState;
	readonly at: number;
	readonly runId: string;
	readonly facts: readonly Fact[];
}

/** How many unread events are buffered. */
const limit = 1_000;

type Nested = Extract<RunEvent, { type: "nested" }>;

export class StreamEvents implements AsyncIterableIterator<AgentStreamEvent> {
	readonly #queue = new EventQueue<AgentStreamEvent>({ limit, join: joinDeltas });
	readonly #project: (event: RunEvent) => void;
	/** The last commit, while events are buffered. */
	#last: CommittedFacts | undefined;
	/** The data that is stored instead of events, with the function that rebuilds them. Set once the limit is reached. */
	#rest:
		| { readonly items: (CommittedFacts | Nested)[]; next: number; readonly fold: JournalFold }
		| undefined;
	#isAnswering = false;
	#end: { readonly error?: unknown } | undefined;

	constructor(agentId: string) {
		this.#project = uapProjection(agentId, (event) => this.push(event));
	}

	/** Adds an event of a strategy that has no facts. */
	push(event: AgentStreamEvent): void {
		this.#queue.push(event);
	}

	/** Called before the events of a commit. */
	committed(facts: CommittedFacts): void {
		if (this.#rest === undefined) this.#last = facts;
		else this.#keep(facts);
	}

	notify(event: RunEvent): void {
		if (this.#rest === undefined && this.#isFullBefore(event)) this.#leaveRest(event.seq);
		if (this.#rest !== undefined) {
			if (event.type === "nested") this.#keep(event);
			return;
		}
		if (event.type === "model") this.#isAnswering = true;
		if (event.type === "message" || event.type === "model_start") this.#isAnswering = false;
		this.#project(event);
	}

	/** Ends the stream when the call has ended. */
	end(end: { readonly error?: unknown } = {}): void {
		this.#end ??= end;
		this.#refill();
	}

	next(): Promise<IteratorResult<AgentStreamEvent>> {
		this.#refill();
		return this.#queue.next();
	}

	/** Stops the consumer. Later events are dropped. */
	return(): Promise<IteratorResult<AgentStreamEvent>> {
		if (this.#rest !== undefined) this.#rest.items.length = 0;
		return this.#queue.return();
	}

	[Symbol.asyncIterator](): this {
		return this;
	}

	/** Whether facts are complete from this position on, so that events need not be buffered. */
	#isFullBefore({ sub, type }: RunEvent): boolean {
		const isCommitted = sub === 0 && type !== "run_suspended" && this.#last !== undefined;
		return isCommitted && !this.#isAnswering && this.#queue.length >= limit;
	}

	/** From an entry of the last commit on, keeps facts instead of events. */
	#leaveRest(seq: number): void {
		const { before, facts, ...about } = this.#last as CommittedFacts;
		const fold = new JournalFold(before);
		const count = seq - before.seq - 1;
		for (const entry of entriesOf({ ...about, facts: facts.slice(0, count) }, before.seq)) fold.add(entry);
		// The boundaries before the commit were already emitted.
		const [first, ...others] = facts.slice(count);
		const unmarked = first === undefined ? [] : [{ ...first, marks: [] }];
		this.#rest = { items: [{ ...about, before, facts: [...unmarked, ...others] }], next: 0, fold };
		this.#last = undefined;
	}

	#keep(item: CommittedFacts | Nested): void {
		this.#rest?.items.push(item);
		this.#refill();
	}

	/** Converts the next facts to events once the buffer is empty. Ends the stream if there are none. */
	#refill(): void {
		const rest = this.#rest;
		while (rest !== undefined && this.#queue.isWaiting && rest.next < rest.items.length) {
			const item = rest.items[rest.next] as CommittedFacts | Nested;
			rest.items[rest.next++] = undefined as never;
			if (rest.next === rest.items.length) {
				rest.items.length = 0;
				rest.next = 0;
			}
			if ("facts" in item) this.#replay(rest.fold, item);
			else this.#project(item);
		}
		if (this.#end !== undefined && (rest === undefined || rest.next >= rest.items.length))
			this.#queue.end(this.#end);
	}

	#replay(fold: JournalFold, committed: CommittedFacts): void {
		for (const entry of entriesOf(committed, fold.state.seq))
			for (const { event } of fold.read(entry)) {
				if (event.type === "message")
					for (const said of saidIn(event.message)) {
						const { seq, sub, step, tag } = event;
						this.#project({ type: "model", seq, sub, step, tag, event: said });
					}
				this.#project(event);
			}
	}
}

function entriesOf({ at, runId, facts }: Omit<CommittedFacts, "before">, after: number): readonly Entry[] {
	return facts.map((fact, index) => ({ seq: after + index + 1, at, runId, fact }));
}

/** Yields the events of the model's message, with one piece for each block and call. */
function* saidIn({ content, toolCalls = [] }: AssistantMessage): Generator<StreamEvent, void> {
	yield { type: "message_start", index: 0, delta: {} };
	for (const [index, block] of content.entries()) {
		if (block.type === "text") yield { type: "text_delta", index, delta: { text: block.text } };
		if (block.type === "reasoning") yield { type: "reasoning_delta", index, delta: { text: block.text } };
	}
	for (const [index, { toolCallId, toolName, arguments: given }] of toolCalls.entries()) {
		const argumentsJson = JSON.stringify(given);
		yield { type: "tool_call_delta", index, delta: { toolCallId, toolName, argumentsJson } };
	}
	yield { type: "message_stop", index: 0, delta: {} };
}
