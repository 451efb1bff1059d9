// The calls of a step in order, each with its state. Replacing one call and adding calls cost the same however many calls
// there are (keeps I5), because the calls of code stay together until the last of them has its result. Versions are
// immutable and share their blocks and the index of ids.
import type { CallState } from "./run-state.ts";

const blockSize = 64;
/** With more calls, an index of ids is faster than a search. */
const mostSearched = 8;

type Block = readonly CallState[];

export class CallStates implements Iterable<CallState> {
	readonly length: number;
	/** All blocks are full, except the last one. */
	readonly #blocks: readonly Block[];
	/** Positions by id. Shared by versions that may have other calls at these positions, so each position is checked. */
	#positions: Map<string, number> | undefined;

	private constructor(blocks: readonly Block[], length: number, positions?: Map<string, number>) {
		this.#blocks = blocks;
		this.length = length;
		this.#positions = positions;
	}

	/** The list must not change afterwards. */
	static of(calls: readonly CallState[]): CallStates {
		if (calls.length <= blockSize) return new CallStates([calls], calls.length);
		return new CallStates([], 0).append(calls);
	}

	/** All calls in order. Costs nothing for one block. */
	get list(): readonly CallState[] {
		const [only] = this.#blocks;
		return only !== undefined && this.#blocks.length === 1 ? only : this.#blocks.flat();
	}

	[Symbol.iterator](): Iterator<CallState> {
		return this.list[Symbol.iterator]();
	}

	at(position: number): CallState | undefined {
		return this.#blocks[Math.floor(position / blockSize)]?.[position % blockSize];
	}

	/** Returns the position of a call; -1 if there is none with this id. */
	indexOf(toolCallId: string): number {
		if (this.length > mostSearched) {
			this.#positions ??= new Map(Array.from(this, ({ call }, at) => [call.toolCallId, at]));
			const at = this.#positions.get(toolCallId) ?? -1;
			if (this.at(at)?.call.toolCallId === toolCallId) return at;
		}
		let at = 0;
		for (const block of this.#blocks)
			for (const { call } of block) {
				if (call.toolCallId === toolCallId) return at;
				at++;
			}
		return -1;
	}

	withId(toolCallId: string): CallState | undefined {
		return this.at(this.indexOf(toolCallId));
	}

	/** Returns the calls with another state of the call at a position. */
	with(position: number, call: CallState): CallStates {
		const at = Math.floor(position / blockSize);
		const block = this.#blocks[at] as Block;
		const changed = block.length === 1 ? [call] : block.with(position % blockSize, call);
		const blocks = this.#blocks.length === 1 ? [changed] : this.#blocks.with(at, changed);
		return new CallStates(blocks, this.length, this.#positions);
	}

	append(calls: readonly CallState[]): CallStates {
		const blocks = [...this.#blocks];
		let last = blocks.at(-1)?.length === blockSize ? [] : [...(blocks.pop() ?? [])];
		for (const call of calls) {
			if (last.length === blockSize) {
				blocks.push(last);
				last = [];
			}
			last.push(call);
		}
		blocks.push(last);
		const positions = this.#positions;
		if (positions !== undefined)
			for (const [at, { call }] of calls.entries()) positions.set(call.toolCallId, this.length + at);
		return new CallStates(blocks, this.length + calls.length, positions);
	}

	/** Returns the calls after a change of some of them; the same calls if `change` returns each one unchanged. */
	changed(change: (call: CallState) => CallState): CallStates {
		const blocks = this.#blocks.map((block) => {
			const after = block.map(change);
			return after.every((call, at) => call === block[at]) ? block : after;
		});
		const isSame = blocks.every((block, at) => block === this.#blocks[at]);
		return isSame ? this : new CallStates(blocks, this.length, this.#positions);
	}
}

export const noCalls: CallStates = CallStates.of([]);
