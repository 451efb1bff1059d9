// Pieces of a stream, ready to be sent: records in sequence, cut after every end of an execution and at `chunkLength`, so
// that a watcher can stop at an end and little data is in flight to a reader.
import type { LoggedEvent } from "holdfast/execute";
import { compareEventIds } from "./event-id.ts";
import { encode, hasFailed, isComplete, recordOf } from "./record.ts";

/** Maximum number of characters in a chunk; a larger record is a chunk of its own. */
const chunkLength = 64 * 1024;

/** Records that are sent together. */
export interface Chunk {
	readonly bytes: Uint8Array;
	readonly events: number;
	readonly firstId: string;
	readonly lastId: string;
	/** Whether its last record ends an execution, and whether that execution failed. */
	readonly ends: boolean;
	readonly failed: boolean;
}

/**
 * Converts events to chunks, in order. Each chunk is created on demand: data that waits for a reader stays in the form of
 * events.
 */
export function* chunksOf(events: readonly LoggedEvent[]): Generator<Chunk, undefined> {
	let text = "";
	let from = 0;
	for (let at = 0; at < events.length; at++) {
		const event = events[at] as LoggedEvent;
		text += recordOf(event);
		const ends = isComplete(event);
		if (!ends && text.length < chunkLength && at < events.length - 1) continue;
		const bytes = encode(text);
		text = "";
		yield {
			bytes,
			events: at - from + 1,
			firstId: (events[from] as LoggedEvent).id,
			lastId: event.id,
			ends,
			failed: hasFailed(event),
		};
		from = at + 1;
	}
}

/** Returns the part of a chunk after an id; undefined if it is empty. */
export function chunkAfter(chunk: Chunk, after: string): Chunk | undefined {
	if (compareEventIds(chunk.lastId, after) <= 0) return undefined;
	if (compareEventIds(chunk.firstId, after) > 0) return chunk;
	const records = new TextDecoder().decode(chunk.bytes).split(/(?<=\n\n)/);
	const ids = records.map((record) => record.slice("id: ".length, record.indexOf("\n")));
	const at = ids.findIndex((id) => compareEventIds(id, after) > 0);
	return {
		...chunk,
		bytes: encode(records.slice(at).join("")),
		events: records.length - at,
		firstId: ids[at] as string,
	};
}
