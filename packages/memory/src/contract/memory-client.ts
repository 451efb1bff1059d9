// Short-term memory: streams of entries, appended and read in order.

/** The caller's identity for access to streams and collections; checked against the access rules, if there are any. */
export interface MemoryCaller {
	/** Roles of the caller. Default: none. */
	readonly roles?: readonly string[];
	/** The caller's name in audit records. Default: `unknown`. */
	readonly agentId?: string;
}

/** Options of a read. */
export interface MemoryReadOptions extends MemoryCaller {
	/** Maximum number of entries. Default: all. */
	readonly limit?: number;
	/** Number of entries to skip. Default: 0. */
	readonly offset?: number;
	/** `asc`, the default, is oldest first. */
	readonly order?: "asc" | "desc";
}

/** Options of a search for entries. */
export interface SearchOptions extends MemoryCaller {
	/** Maximum number of matches, at least 0. Default: 10. */
	readonly topK?: number;
	/** Searches only this stream. Default: all. */
	readonly streamKey?: string;
}

/** A match. */
export interface SearchMatch {
	/** The entry or the value. */
	readonly value: unknown;
	/** Higher is better; comparable only within one result. */
	readonly score: number;
	/** The stream that contains it. */
	readonly streamKey?: string;
	/** The collection that contains it. */
	readonly collection?: string;
	/** Its key in the collection. */
	readonly key?: string;
}

/** Options of an append. */
export interface AppendOptions extends MemoryCaller {
	/** A second append with the same id to the same stream is ignored. Default: none. */
	readonly id?: string;
}

/** Streams of entries by key. Your own implementation may lack `search` and `clear`, and may ignore options. */
export interface MemoryClient {
	/** Adds an entry at the end of a stream. */
	append(streamKey: string, entry: unknown, options?: AppendOptions): Promise<void>;
	/** Returns the entries of a stream, by default all, oldest first. */
	// biome-ignore lint/suspicious/noExplicitAny: entries are the caller's own
	read(streamKey: string, options?: MemoryReadOptions): Promise<any[]>;
	/** Returns the best matches, best first. */
	// biome-ignore lint/suspicious/noExplicitAny: clients of others may give matches of another shape
	search?(query: string, options?: SearchOptions): Promise<any[]>;
	/** Removes all entries of a stream. */
	clear?(streamKey: string, options?: MemoryCaller): Promise<void>;
	/** Connects, if the implementation has a connection. */
	start?(): Promise<void>;
	/** Rejects if it is unusable. */
	health?(): Promise<void>;
	/** Releases the connection, if there is one. */
	close?(): Promise<void>;
}
