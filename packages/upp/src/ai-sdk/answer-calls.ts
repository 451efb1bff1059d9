// The tool calls of one answer: begun in pieces, whole in any order, listed in the order in which they were begun.

import type { ToolCall } from "../messages/index.ts";

interface WholeCall {
	readonly call: ToolCall;
	/** How many content blocks came before it. */
	readonly blocksBefore: number;
}

export class AnswerCalls {
	readonly #begun: string[];
	#whole: WholeCall[] | undefined;

	/** The first call begins. */
	constructor(toolCallId: string) {
		this.#begun = [toolCallId];
	}

	/** Which call this is, from 0; -1 if it was not begun. */
	indexOf(toolCallId: string): number {
		return this.#begun[0] === toolCallId ? 0 : this.#begun.indexOf(toolCallId);
	}

	/** Begins a further call; its index. */
	begin(toolCallId: string): number {
		return this.#begun.push(toolCallId) - 1;
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
		const begun = new Map(this.#begun.map((id, index) => [id, index]));
		const order = ({ toolCallId }: ToolCall): number => begun.get(toolCallId) ?? 0;
		return calls.sort((one, other) => order(one) - order(other));
	}

	/** For each call that content followed, the index of the block after it; undefined if there is no such call. */
	places(blocks: number): Record<string, number> | undefined {
		const followed = this.#whole?.filter(({ blocksBefore }) => blocksBefore < blocks) ?? [];
		if (followed.length === 0) return undefined;
		return Object.fromEntries(followed.map(({ call, blocksBefore }) => [call.toolCallId, blocksBefore]));
	}
}
