// The id of a session's event: the preceding entry, its position after that entry, and its part if one run event is
// projected to several. An id never changes its meaning (keeps I3).
import { cutText, HoldfastError } from "@holdfast/upp";

/** A position in the events of a session: after the entry `seq` and before the next. `sub` and `part` count from 0. */
export interface EventPlace {
	/** The entry before it. */
	readonly seq: number;
	/** Its number among the events after that entry. */
	readonly sub: number;
	/** Its number among the events made from one run event. */
	readonly part: number;
}

/** The position before all events. */
export const beginning: EventPlace = { seq: 0, sub: 0, part: -1 };

const pattern = /^(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})$/;

/** Encodes a position as an id. */
export function eventId({ seq, sub, part }: EventPlace): string {
	return `${seq}.${sub}.${part}`;
}

/** Greater than any `sub` of an entry. */
const afterAll = 999_999_999_999_999;

/** Returns the id after which the events of the next entry start. */
export function afterEntry(seq: number): string {
	return eventId({ seq, sub: afterAll, part: 0 });
}

/** Greater than the number of chunks a run emits between two facts. */
const afterChunks = 1_000_000_000;

/** Greater than the number of parts of a run event. */
const afterParts = 1_000;

/** Returns the id that precedes the events between an entry and the next one. */
export function atEntry(seq: number): string {
	return eventId({ seq, sub: 0, part: afterParts - 1 });
}

/** Returns the position of a boundary committed with an entry: after all chunks before that entry. */
export function placeBeforeEntry(seq: number, index: number): EventPlace {
	return { seq: seq - 1, sub: afterChunks, part: index };
}

/** Returns the position of a boundary committed with a chunk: after all parts of the events before that chunk. */
export function placeBeforeChunk({ seq, sub }: Pick<EventPlace, "seq" | "sub">, index: number): EventPlace {
	return { seq, sub: sub - 1, part: afterParts + index };
}

/**
 * Decodes an id.
 * @throws HoldfastError `invalid_event_id` for text that is not an id.
 */
export function readEventId(id: string): EventPlace {
	const [, seq, sub, part] = pattern.exec(id) ?? [];
	if (part === undefined) throw invalidEventId(id);
	return { seq: Number(seq), sub: Number(sub), part: Number(part) };
}

/** Creates the error for an id that matches no event. */
export function invalidEventId(id: string): HoldfastError {
	const given = JSON.stringify(cutText(id, 50));
	return new HoldfastError(
		"invalid_event_id",
		`${given} is not an event id of this session. Pass the unchanged id of an event.`,
	);
}

/** Whether a position is after another. */
export function isAfter(place: EventPlace, other: EventPlace): boolean {
	return (
		place.seq > other.seq ||
		(place.seq === other.seq &&
			(place.sub > other.sub || (place.sub === other.sub && place.part > other.part)))
	);
}
