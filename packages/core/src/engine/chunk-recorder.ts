// Stores the events that a run emits between two facts in chunks, for followers that read by offset (keeps I3, I7). A
// chunk is committed before followers see it: a few milliseconds after it started, or with the next facts.

import {
	type BoundaryMark,
	type Chunk,
	type ChunkEvent,
	joinModelEvents,
	type KeptEvent,
	type PendingMarks,
	type RunEvent,
	type Watcher,
} from "../facts/index.ts";
import type { Timers } from "../host/index.ts";

type Pending = KeptEvent & Pick<ChunkEvent, "marks">;

const noChunks: readonly Chunk[] = [];
const noMarks: readonly BoundaryMark[] = [];

/** The maximum number of characters of joined tool deltas. */
const joinedTo = 8_192;

export class ChunkRecorder implements Watcher {
	readonly #timers: Timers;
	readonly #every: number;
	readonly #flush: () => void;
	/** Boundaries that wait to be committed with the next piece, or otherwise with the next fact. */
	readonly #marks: PendingMarks | undefined;
	#pending: Pending[] = [];
	#count = 0;
	#callOff: (() => void) | undefined;

	/** `flush` commits what `take()` returns, `every` milliseconds after the first piece. */
	constructor(timers: Timers, every: number, flush: () => void, marks: PendingMarks | undefined) {
		this.#timers = timers;
		this.#every = every;
		this.#flush = flush;
		this.#marks = marks;
	}

	notify(event: RunEvent): void {
		if (event.type !== "model" && event.type !== "model_start" && event.type !== "tool_delta") return;
		const marks = this.#marks?.take() ?? noMarks;
		const last = marks.length === 0 ? this.#pending.at(-1) : undefined;
		const joined = last === undefined ? undefined : join(last, event);
		if (last !== undefined && joined !== undefined)
			this.#pending[this.#pending.length - 1] =
				last.marks === undefined ? joined : { ...joined, marks: last.marks };
		else this.#pending.push(marks.length === 0 ? event : { ...event, marks });
		this.#callOff ??= this.#timers.after(this.#every, () => {
			this.#callOff = undefined;
			this.#flush();
		});
	}

	/** Removes and returns the pieces that are not committed yet. */
	take(): readonly Chunk[] {
		this.#callOff?.();
		this.#callOff = undefined;
		const pending = this.#pending;
		if (pending.length === 0) return noChunks;
		this.#pending = [];
		// An event may have been emitted while a commit of facts was in progress: its position is where it is committed.
		return pending.map(({ seq: _, sub: __, ...event }) => ({ sub: ++this.#count, event }));
	}
}

/** Joins two events into one, at the position of the later one. */
function join(last: KeptEvent, next: KeptEvent): KeptEvent | undefined {
	if (last.type === "model" && next.type === "model") return joinModelEvents(last, next);
	if (last.type !== "tool_delta" || next.type !== "tool_delta") return undefined;
	if (last.toolCallId !== next.toolCallId || last.delta.length > joinedTo) return undefined;
	return { ...next, delta: last.delta + next.delta };
}
