// This process's state about the sessions of one store, shared by its agents.
import type { Journal } from "../host/index.ts";

/** Shared state of the sessions of one store in this process. */
export interface LocalStore {
	/** Identifies the store: the same key in two stores is two sessions. */
	readonly number: number;
	/**
	 * Ids of inbox inputs that a mailbox in this process holds: two agents on one host do not adopt each other's inputs.
	 */
	readonly queued: Set<string>;
	/** Runs in progress, by store key: two agents on one host do not take a session from each other during a run. */
	readonly driven: Map<string, Promise<unknown>>;
	/** Store keys of sessions with an open run without a driver, whose lease could not be released. */
	readonly unreleased: Set<string>;
	/**
	 * Store keys of sessions with inbox turns that were accepted here but are in no mailbox. While this process lives,
	 * others expect it to begin them.
	 */
	readonly left: Set<string>;
}

const stores = new WeakMap<Journal, LocalStore>();
let count = 0;

/** Returns the shared state of a store's sessions. */
export function localStore(journal: Journal): LocalStore {
	const known = stores.get(journal);
	if (known !== undefined) return known;
	const local: LocalStore = {
		number: ++count,
		queued: new Set(),
		driven: new Map(),
		unreleased: new Set(),
		left: new Set(),
	};
	stores.set(journal, local);
	return local;
}

/** Returns a name for a session that is unique in this process. Calls of its tools and hooks are identified by it. */
export function processKey({ number }: LocalStore, storeKey: string): string {
	return `${number} ${storeKey}`;
}
