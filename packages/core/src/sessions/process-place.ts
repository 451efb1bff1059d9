// Names of sessions among all of this process: the same place in two stores is two sessions.
import type { Journal } from "../journal/index.ts";

const journals = new WeakMap<Journal, number>();
let count = 0;

/** The name of the session at a place in a store. */
export function processPlace(journal: Journal, place: string): string {
	const number = journals.get(journal) ?? ++count;
	journals.set(journal, number);
	return `${number} ${place}`;
}
