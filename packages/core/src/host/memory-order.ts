// The order in which the sessions of an in-memory store last changed: a linked list in which a session moves to the end
// in constant time. It includes the most recent deletions.
import { type Change, rememberedDeletions } from "./changes.ts";

/** An item in the order of last changes: a session, or the record of a deleted one. */
export interface Changed {
	readonly key: string;
	/** Identifies it among all items of its store, including earlier ones with its key. */
	readonly number: number;
	/** 0 before its first change. */
	position: number;
	kind: Change["kind"];
	older: Changed | undefined;
	newer: Changed | undefined;
}

/** A deleted session. */
export interface Deletion extends Changed {
	readonly seq: number;
}

/** The order of changes. */
export interface ChangeOrder {
	latest: Changed | undefined;
	position: number;
	/** In order, as many as are remembered. */
	readonly deletions: Changed[];
	/** Position of the last deletion that is no longer remembered; 0 if all are remembered. */
	forgotten: number;
}

/** Creates the order of an empty store. */
export function newOrder(): ChangeOrder {
	return { latest: undefined, position: 0, deletions: [], forgotten: 0 };
}

/** Records a change: the session is now the one that changed last. */
export function noteChange(order: ChangeOrder, session: Changed, kind: Change["kind"]): void {
	session.position = ++order.position;
	session.kind = kind;
	const { latest } = order;
	if (latest === session) return;
	leave(session);
	session.older = latest;
	if (latest !== undefined) latest.newer = session;
	order.latest = session;
}

/** Records the deletion of a session. */
export function noteDeletion(order: ChangeOrder, session: Changed, seq: number): void {
	if (order.latest === session) order.latest = session.older;
	leave(session);
	const { key, number } = session;
	const deletion: Deletion = {
		key,
		number,
		seq,
		position: 0,
		kind: "deleted",
		older: undefined,
		newer: undefined,
	};
	noteChange(order, deletion, "deleted");
	order.deletions.push(deletion);
	if (order.deletions.length <= 2 * rememberedDeletions) return;
	// Drops half of them at once, so that the amortised cost of a deletion is constant.
	for (const forgotten of order.deletions.splice(0, rememberedDeletions)) {
		order.forgotten = forgotten.position;
		leave(forgotten);
	}
}

function leave(session: Changed): void {
	const { older, newer } = session;
	if (older !== undefined) older.newer = newer;
	if (newer !== undefined) newer.older = older;
	session.older = undefined;
	session.newer = undefined;
}
