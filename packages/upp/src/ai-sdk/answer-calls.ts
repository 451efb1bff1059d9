// The tool calls of one answer: started in pieces, completed in any order, listed in the order in which they started.

import type { ToolCall } from "../messages/index.ts";
import { mostCalls } from "../model/index.ts";

interface WholeCall {
	readonly call: ToolCall;
	/** How many content blocks preceded it. */
	readonly blocksBefore: number;
}

export class AnswerCalls {
	readonly #first: string;
	/** The indexes of the others, by id. */
	#later: Map<string, number> | undefined;
	#whole: WholeCall[] | undefined;

	/** Starts the first call. */
	constructor(toolCallId: string) {
		this.#first = toolCallId;
	}

	/** Returns the index of this call, from 0; -1 if it has not started. */
	indexOf(toolCallId: string): number {
		return this.#first === toolCallId ? 0 : (this.#later?.get(toolCallId) ?? -1);
	}

	/** Starts a further call and returns its index. @throws TypeError if the answer has too many. */
	begin(toolCallId: string): number {
		this.#later ??= new Map();
		const index = this.#later.size + 1;
		if (index >= mostCalls) throw new TypeError(`it has more than ${mostCalls} tool calls`);
		this.#later.set(toolCallId, index);
		return index;
	}

	/** Adds a completed call. */
	add(call: ToolCall, blocksBefore: number): void {
		if (this.#whole === undefined) this.#whole = [{ call, blocksBefore }];
		else this.#whole.push({ call, blocksBefore });
	}

	/** Returns the completed calls; undefined if there are none. */
	list(): ToolCall[] | undefined {
		const calls = this.#whole?.map(({ call }) => call);
		if (calls === undefined || calls.length === 1) return calls;
		return calls.sort((one, other) => this.indexOf(one.toolCallId) - this.indexOf(other.toolCallId));
	}

	/**
	 * Returns, for each call that content followed, the index of the block after it; undefined if there is no such call.
	 */
	places(blocks: number): Record<string, number> | undefined {
		const followed = this.#whole?.filter(({ blocksBefore }) => blocksBefore < blocks) ?? [];
		if (followed.length === 0) return undefined;
		return Object.fromEntries(followed.map(({ call, blocksBefore }) => [call.toolCallId, blocksBefore]));
	}
}
