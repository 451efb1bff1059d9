// The tool calls of one answer: begun in pieces, whole in any order, listed in the order in which they were begun.

import type { ToolCall } from "../messages/index.ts";
import { mostCalls } from "../model/index.ts";

interface WholeCall {
	readonly call: ToolCall;
	/** How many content blocks came before it. */
	readonly blocksBefore: number;
}

export class AnswerCalls {
	readonly #first: string;
	/** The indexes of the others. */
	#later: Map<string, number> | undefined;
	#whole: WholeCall[] | undefined;

	/** The first call begins. */
	constructor(toolCallId: string) {
		this.#first = toolCallId;
	}

	/** The index of this call, from 0; -1 if it has not started. */
	indexOf(toolCallId: string): number {
		return this.#first === toolCallId ? 0 : (this.#later?.get(toolCallId) ?? -1);
	}

	/** Begins a further call; its index. @throws TypeError for more than an answer may have. */
	begin(toolCallId: string): number {
		this.#later ??= new Map();
		const index = this.#later.size + 1;
		if (index >= mostCalls) throw new TypeError(`it has more than ${mostCalls} tool calls`);
		this.#later.set(toolCallId, index);
		return index;
	}

	/** Adds a whole call. */
	add(call: ToolCall, blocksBefore: number): void {
		if (this.#whole === undefined) this.#whole = [{ call, blocksBefore }];
		else this.#whole.push({ call, blocksBefore });
	}

	/** The whole calls; undefined without any. */
	list(): ToolCall[] | undefined {
		const calls = this.#whole?.map(({ call }) => call);
		if (calls === undefined || calls.length === 1) return calls;
		return calls.sort((one, other) => this.indexOf(one.toolCallId) - this.indexOf(other.toolCallId));
	}

	/** For each call that content followed, the index of the block after it; undefined if there is no such call. */
	places(blocks: number): Record<string, number> | undefined {
		const followed = this.#whole?.filter(({ blocksBefore }) => blocksBefore < blocks) ?? [];
		if (followed.length === 0) return undefined;
		return Object.fromEntries(followed.map(({ call, blocksBefore }) => [call.toolCallId, blocksBefore]));
	}
}
