// The port of a bare session store: opaque states under keys, replaced by compare-and-swap. Nothing of leases, runs or
// time is asked of it.

/** The stored data of a key. */
export interface StoredSession {
	/** Opaque, JSON-safe. Changing the returned value does not change the stored one. */
	readonly state: unknown;
	/** Minted by the store for this state alone; never used again, not even after `delete`. */
	readonly version: string;
}

/** The result of a commit. */
export type CommitResult =
	| { readonly ok: true; readonly version: string }
	| { readonly ok: false; readonly reason: "conflict" };

/**
 * A place for sessions that knows three operations. Write one for any database that can replace a value on condition;
 * `sessionStoreContract` of `@holdfast/testing` holds it to this contract.
 */
export interface SessionStore {
	/** The data of the key; null if there is none. */
	load(key: string): Promise<StoredSession | null>;
	/**
	 * Replaces the state, or with `expectedVersion: null` creates it. A conflict if the stored version is not the
	 * expected one; the stored state then stays.
	 */
	commit(
		key: string,
		next: { readonly state: unknown },
		options: { readonly expectedVersion: string | null },
	): Promise<CommitResult>;
	/** Deletes the data of the key. A missing key is fine. */
	delete(key: string): Promise<void>;
}
