// What this process knows of the sessions of one store, whichever of its agents they are of.
import type { Journal } from "../host/index.ts";

/** What the sessions of one store share in this process. */
export interface StoreHere {
	/** Tells the store from others: the same place in two stores is two sessions. */
	readonly number: number;
	/** Inputs that some queue holds: two agents on one host adopt nothing from each other. */
	readonly queued: Set<string>;
	/** Runs under way, by place: two agents on one host do not take a session from each other mid-run. */
	readonly driven: Map<string, Promise<unknown>>;
	/** Places of sessions with an open run that nobody drives, and that could not be given up. */
	readonly kept: Set<string>;
}

const stores = new WeakMap<Journal, StoreHere>();
let count = 0;

/** What is shared by the sessions of a store. */
export function storeHere(journal: Journal): StoreHere {
	const known = stores.get(journal);
	if (known !== undefined) return known;
	const here: StoreHere = { number: ++count, queued: new Set(), driven: new Map(), kept: new Set() };
	stores.set(journal, here);
	return here;
}

/** The name of the session at a place, among all of this process. */
export function processPlace({ number }: StoreHere, place: string): string {
	return `${number} ${place}`;
}
