// What the policies of this package know about the lists of messages that they return: that they are messages, and how far
// a list is the same as the one of the previous request. Nothing of it has to be compared again then (keeps I5).
import type { Message } from "@holdfast/upp";

interface Known {
	readonly id: number;
	/** The id of the list of the previous request; 0 without one. */
	readonly before: number;
	/** How many messages at the beginning are those of that list. */
	readonly same: number;
}

// Lists are known by number, so that none keeps the previous one in memory.
const known = new WeakMap<readonly Message[], Known>();
let last = 0;

/** Returns a list after noting that its first `same` messages are those of the previous one. */
export function ownView(
	view: readonly Message[],
	before: readonly Message[] | undefined,
	same: number,
): readonly Message[] {
	const { id = 0, length = 0 } = before === undefined ? {} : { ...known.get(before), length: before.length };
	known.set(view, { id: ++last, before: id, same: Math.max(0, Math.min(same, view.length, length)) });
	return view;
}

/** Whether a list was created by a policy of this package, and contains messages only. */
export function isOwnView(view: readonly Message[]): boolean {
	return known.has(view);
}

/** Returns how many messages at the beginning of a list are known to be those of another one, or found to be. */
export function sameBeginning(view: readonly Message[], before: readonly Message[], least = 0): number {
	const { before: id } = known.get(view) ?? { before: 0 };
	const noted = id > 0 && id === known.get(before)?.id ? (known.get(view) as Known).same : 0;
	const end = Math.min(view.length, before.length);
	let at = Math.min(Math.max(noted, least), end);
	while (at < end && view[at] === before[at]) at++;
	return at;
}
