// The id of an event in a session's log: the entry it comes behind, its place behind that, and its place among the events
// of one run event. It never changes its meaning (keeps I3).
import { HoldfastError } from "@holdfast/upp";

/** A place in the log: between the entry `seq` and the next, `sub` and `part` count from 0. */
export interface EventPlace {
	readonly seq: number;
	readonly sub: number;
	readonly part: number;
}

/** The place before all. */
export const beginning: EventPlace = { seq: 0, sub: 0, part: -1 };

const pattern = /^(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,14})$/;

/** Writes an id. */
export function eventId({ seq, sub, part }: EventPlace): string {
	return `${seq}.${sub}.${part}`;
}

/** Behind all chunks of an entry. */
const behindAll = 999_999_999_999_999;

/** The id behind which the events of the next entry begin. */
export function behindEntry(seq: number): string {
	return eventId({ seq, sub: behindAll, part: 0 });
}

/**
 * Reads an id.
 * @throws HoldfastError `invalid_event_id` for what is none.
 */
export function readEventId(id: string): EventPlace {
	const [, seq, sub, part] = pattern.exec(id) ?? [];
	if (part === undefined) throw invalidEventId(id);
	return { seq: Number(seq), sub: Number(sub), part: Number(part) };
}

/** An id that no event has. */
export function invalidEventId(id: string): HoldfastError {
	const given = JSON.stringify(id.slice(0, 50));
	return new HoldfastError(
		"invalid_event_id",
		`${given} is no event id of this session. Give the id of an event as it was received.`,
	);
}

/** Whether a place is behind another. */
export function isBehind(place: EventPlace, other: EventPlace): boolean {
	return (
		place.seq > other.seq ||
		(place.seq === other.seq &&
			(place.sub > other.sub || (place.sub === other.sub && place.part > other.part)))
	);
}
