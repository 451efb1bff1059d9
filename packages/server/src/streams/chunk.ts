// Pieces of a stream, ready to be sent: records one after the other, cut after every end of an execution and at
// `chunkBytes`, so that a watcher can stop at an end and what is under way to a reader stays small.
import type { LoggedEvent } from "holdfast/execute";
import { compareEventIds } from "./event-id.ts";
import { encode, hasFailed, isComplete, recordOf } from "./record.ts";

/** How many characters a chunk takes before it is cut; one larger record is a chunk of its own. */
const chunkLength = 64 * 1024;

/** Records that are sent together. */
export interface Chunk {
	readonly bytes: Uint8Array;
	readonly events: number;
	readonly firstId: string;
	readonly lastId: string;
	/** Whether its last record ends an execution, and whether that has failed. */
	readonly ends: boolean;
	readonly failed: boolean;
}

/** The events as chunks, in order. Each is made when it is asked for: what waits for a reader waits as events. */
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

/** The part of a chunk after an id; undefined when nothing is. */
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
