// Long-term memory: values under keys in collections, which can be queried.
import type { MemoryCaller } from "./memory-client.ts";

/** A comparison of one field. */
export interface Comparison {
	readonly $ne?: unknown;
	readonly $gt?: unknown;
	readonly $gte?: unknown;
	readonly $lt?: unknown;
	readonly $lte?: unknown;
	readonly $in?: readonly unknown[];
}

/** Fields, dotted where they are nested, with the value or comparison that each must match. */
export type Query = Readonly<Record<string, unknown>>;

/** How a query is answered. */
export interface QueryOptions extends MemoryCaller {
	/** Values at most. Default: all. */
	readonly limit?: number;
	/** Values to leave out first. Default: 0. */
	readonly offset?: number;
	/** Fields, dotted where they are nested, in order of weight. Default: the order of the keys. */
	readonly sort?: Readonly<Record<string, "asc" | "desc">>;
}

/** How values are searched. */
export interface MatchOptions extends MemoryCaller {
	/** Matches at most, from 0. Default: 10. */
	readonly topK?: number;
	/** Only in this collection. Default: in all. */
	readonly collection?: string;
}

/**
 * Values under keys in collections. A client of the caller's own may lack `search`, and ignore options.
 */
export interface DatabaseClient {
	write(collection: string, key: string, value: unknown, options?: MemoryCaller): Promise<void>;
	// biome-ignore lint/suspicious/noExplicitAny: values are the caller's own
	read(collection: string, key: string, options?: MemoryCaller): Promise<any>;
	// biome-ignore lint/suspicious/noExplicitAny: values are the caller's own
	query(collection: string, query: Query, options?: QueryOptions): Promise<any[]>;
	// biome-ignore lint/suspicious/noExplicitAny: clients of others may give matches of another shape
	search?(text: string, options?: MatchOptions): Promise<any[]>;
	/** Connects, where there is something to connect to. */
	start?(): Promise<void>;
	/** Rejects where it cannot be used. */
	health?(): Promise<void>;
	close?(): Promise<void>;
}
