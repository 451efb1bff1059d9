// The blocks of an answer that still grow. Each delta finds its block in constant time, however many are open (keeps I7).
import type { ReasoningBlock, TextBlock } from "../messages/index.ts";
import type { GrowingMetadata } from "./growing-metadata.ts";

/** A block that is still growing. */
export interface OpenBlock {
	readonly block: TextBlock | ReasoningBlock;
	readonly metadata: GrowingMetadata;
	/** Its index in the content; -1 until it has content to keep. */
	index: number;
}

type Kind = OpenBlock["block"]["type"];

export class OpenBlocks {
	/** In the order in which they started. */
	readonly #all = new Set<OpenBlock>();
	/** Providers may start an id again before they end it. In that case, the last one grows. */
	readonly #byId: Readonly<Record<Kind, Map<unknown, OpenBlock[]>>> = {
		text: new Map(),
		reasoning: new Map(),
	};

	begin(id: unknown, open: OpenBlock): void {
		this.#all.add(open);
		const byId = this.#byId[open.block.type];
		const others = byId.get(id);
		if (others === undefined) byId.set(id, [open]);
		else others.push(open);
	}

	/** Returns the block that deltas with this id belong to. */
	last(id: unknown, kind: Kind): OpenBlock | undefined {
		return this.#byId[kind].get(id)?.at(-1);
	}

	/** Ends the block that deltas with this id belong to. Returns undefined if there is none. */
	end(id: unknown, kind: Kind): OpenBlock | undefined {
		const of = this.#byId[kind].get(id);
		const open = of?.pop();
		if (of?.length === 0) this.#byId[kind].delete(id);
		if (open !== undefined) this.#all.delete(open);
		return open;
	}

	all(): Iterable<OpenBlock> {
		return this.#all;
	}
}
