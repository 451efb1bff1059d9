// The port of a bare session store: opaque states under keys, replaced by compare-and-swap. It needs no notion of leases,
// runs or time.

/** The stored data of a key. */
export interface StoredSession {
	/** Opaque and JSON-safe. Changing the returned value does not change the stored one. */
	readonly state: unknown;
	/** Created by the store for this state only, and never reused, not even after `delete`. */
	readonly version: string;
}

/** The result of a commit. */
export type CommitResult =
	| { readonly ok: true; readonly version: string }
	| { readonly ok: false; readonly reason: "conflict" };

/**
 * A session store with three operations. You can implement it on any database that supports conditional replacement;
 * `sessionStoreContract` of `@holdfast/testing` tests an implementation against this contract.
 */
export interface SessionStore {
	/** Returns the data of the key; null if there is none. */
	load(key: string): Promise<StoredSession | null>;
	/**
	 * Replaces the state or, with `expectedVersion: null`, creates it. If the stored version is not the expected one,
	 * returns a conflict and leaves the stored state unchanged.
	 */
	commit(
		key: string,
		next: { readonly state: unknown },
		options: { readonly expectedVersion: string | null },
	): Promise<CommitResult>;
	/** Deletes the data of the key. Has no effect if the key is missing. */
	delete(key: string): Promise<void>;
}
