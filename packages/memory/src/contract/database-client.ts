// Long-term memory: values by key in collections, which can be queried.
import type { MemoryCaller } from "./memory-client.ts";

/** A comparison of one field. */
export interface Comparison {
	/** Not equal to this value. */
	readonly $ne?: unknown;
	/** Greater than this number or string. */
	readonly $gt?: unknown;
	/** At least this number or string. */
	readonly $gte?: unknown;
	/** Less than this number or string. */
	readonly $lt?: unknown;
	/** At most this number or string. */
	readonly $lte?: unknown;
	/** Equal to one of these values. */
	readonly $in?: readonly unknown[];
}

/** Fields, dotted if they are nested, with the value or comparison that each must match. */
export type Query = Readonly<Record<string, unknown>>;

/** Options of a query. */
export interface QueryOptions extends MemoryCaller {
	/** Maximum number of values. Default: all. */
	readonly limit?: number;
	/** Number of values to skip. Default: 0. */
	readonly offset?: number;
	/** Fields, dotted if they are nested, most significant first. Default: the order of the keys. */
	readonly sort?: Readonly<Record<string, "asc" | "desc">>;
}

/** Options of a search for values. */
export interface MatchOptions extends MemoryCaller {
	/** Maximum number of matches, at least 0. Default: 10. */
	readonly topK?: number;
	/** Searches only this collection. Default: all. */
	readonly collection?: string;
}

/** Values by key in collections. Your own implementation may lack `search`, and may ignore options. */
export interface DatabaseClient {
	/** Stores a value under a key, in place of an earlier one. */
	write(collection: string, key: string, value: unknown, options?: MemoryCaller): Promise<void>;
	/** Returns a value; null if it does not exist. */
	// biome-ignore lint/suspicious/noExplicitAny: values are the caller's own
	read(collection: string, key: string, options?: MemoryCaller): Promise<any>;
	/** Returns the values that match. */
	// biome-ignore lint/suspicious/noExplicitAny: values are the caller's own
	query(collection: string, query: Query, options?: QueryOptions): Promise<any[]>;
	/** Returns the best matches, best first. */
	// biome-ignore lint/suspicious/noExplicitAny: clients of others may give matches of another shape
	search?(text: string, options?: MatchOptions): Promise<any[]>;
	/** Connects, if the implementation has a connection. */
	start?(): Promise<void>;
	/** Rejects if it is unusable. */
	health?(): Promise<void>;
	/** Releases the connection, if there is one. */
	close?(): Promise<void>;
}
