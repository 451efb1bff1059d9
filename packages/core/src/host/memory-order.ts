// The order in which the sessions of a store in memory changed last: a list that a session leaves and joins at its end in
// constant time, and the last deletions among them.
import { type Change, rememberedDeletions } from "./changes.ts";

/** An item in the order of its last change: a session, or the record of a deleted one. */
export interface Changed {
	readonly key: string;
	/** Distinguishes it from all others of its store, including earlier ones with its key. */
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
	/** Position of the last deletion that is no longer remembered; 0 while all are remembered. */
	forgotten: number;
}

/** The order of a store in which nothing happened. */
export function newOrder(): ChangeOrder {
	return { latest: undefined, position: 0, deletions: [], forgotten: 0 };
}

/** Something happened to a session: it is the one that changed last. */
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

/** A session was deleted. */
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
	// Half of them at once, so that each deletion costs the same.
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
