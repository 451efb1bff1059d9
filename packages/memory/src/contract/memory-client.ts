// Short-term memory: streams of entries, appended and read in order.

/** The identity with which streams and collections are accessed; checked against access rules, if there are any. */
export interface MemoryCaller {
	/** Roles of the caller. Default: none. */
	readonly roles?: readonly string[];
	/** The name of the caller in audit records. Default: `unknown`. */
	readonly agentId?: string;
}

/** How a stream is read. */
export interface MemoryReadOptions extends MemoryCaller {
	/** Entries at most. Default: all. */
	readonly limit?: number;
	/** Entries to leave out first. Default: 0. */
	readonly offset?: number;
	/** `asc`, the default, is oldest first. */
	readonly order?: "asc" | "desc";
}

/** How entries are searched. */
export interface SearchOptions extends MemoryCaller {
	/** Matches at most, from 0. Default: 10. */
	readonly topK?: number;
	/** Only in this stream. Default: in all. */
	readonly streamKey?: string;
}

/** A match. */
export interface SearchMatch {
	/** The entry, or the value. */
	readonly value: unknown;
	/** Better matches have a higher one; only to be compared within one answer. */
	readonly score: number;
	/** Where it was found. */
	readonly streamKey?: string;
	readonly collection?: string;
	readonly key?: string;
}

/** Options of an append. */
export interface AppendOptions extends MemoryCaller {
	/** A second append of the same id to the same stream is left out. Default: none. */
	readonly id?: string;
}

/**
 * Streams of entries under keys. A client of the caller's own may lack `search` and `clear`, and ignore options.
 */
export interface MemoryClient {
	append(streamKey: string, entry: unknown, options?: AppendOptions): Promise<void>;
	// biome-ignore lint/suspicious/noExplicitAny: entries are the caller's own
	read(streamKey: string, options?: MemoryReadOptions): Promise<any[]>;
	// biome-ignore lint/suspicious/noExplicitAny: clients of others may give matches of another shape
	search?(query: string, options?: SearchOptions): Promise<any[]>;
	clear?(streamKey: string, options?: MemoryCaller): Promise<void>;
	/** Connects, where there is something to connect to. */
	start?(): Promise<void>;
	/** Rejects where it cannot be used. */
	health?(): Promise<void>;
	close?(): Promise<void>;
}
