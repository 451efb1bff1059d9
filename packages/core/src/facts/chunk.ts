// Events that a run emits between two facts, stored in chunks for followers with offsets.
import type { ModelEvent, ModelStartEvent, ToolDeltaEvent } from "./events.ts";
import type { BoundaryMark } from "./fact.ts";

/** A chunk of events that a run emitted between two facts. */
export interface Chunk {
	/** Position after the last entry. Increases, with gaps. */
	readonly sub: number;
	/** A `ChunkEvent`, as JSON. */
	readonly event: unknown;
}

/** A chunk with its position. */
export interface StoredChunk extends Chunk {
	/** The entry that precedes it. */
	readonly seq: number;
}

/** The events that are kept in chunks. */
export type KeptEvent = ModelStartEvent | ModelEvent | ToolDeltaEvent;

/** An event as a chunk holds it. */
export type ChunkEvent = WithoutPlace<KeptEvent> & {
	/** The boundaries emitted since the previous chunk or fact; absent if there are none. */
	readonly marks?: readonly BoundaryMark[];
};

type WithoutPlace<Event> = Event extends unknown ? Omit<Event, "seq" | "sub"> : never;
