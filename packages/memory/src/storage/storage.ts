// The interface that a storage implements for memory and database clients: it keeps records in order. Records are
// validated texts, encrypted if encryption is on; spaces and names are in the form of `storedName`.

/** An entry of a stream, or a value of a collection. */
export type Kind = "entry" | "value";

/** A record to write. */
export interface NewRecord {
	/** The stream or the collection. */
	readonly space: string;
	/** The key of a value, or the optional id of an entry. */
	readonly name: string | null;
	/** Milliseconds since 1970. */
	readonly at: number;
	readonly body: string;
	/** Bytes of a vector, encrypted if the body is. */
	readonly vector: Uint8Array | null;
	/** The words for search; undefined if the text is encrypted. */
	readonly words: readonly string[] | undefined;
}

/** A stored record. */
export interface StoredRecord extends Omit<NewRecord, "words"> {
	readonly kind: Kind;
	/** Grows with every write to the storage, and is never reused. */
	readonly seq: number;
}

/** The part of a stream to read. */
export interface Window {
	readonly order: "asc" | "desc";
	readonly offset: number;
	readonly limit: number | undefined;
	/** Skips entries with a lower number. */
	readonly fromSeq: number;
	/** Skips older entries. */
	readonly since: number;
}

/** A search for words. */
export interface WordSearch {
	readonly kind: Kind;
	/** At least one. */
	readonly words: readonly string[];
	readonly space: string | undefined;
	readonly offset: number;
	readonly limit: number;
}

/** A record and its score. */
export interface FoundRecord {
	readonly record: StoredRecord;
	readonly score: number;
}

/** Entries to delete: older ones, or those with a lower number. */
export interface Expired {
	readonly before: number;
	readonly belowSeq: number;
}

export interface Storage {
	/** Connects, and creates missing tables. Called before anything else, and again after `close`. */
	open(): Promise<void>;
	close(): Promise<void>;
	/** Rejects if the storage is unusable. */
	ping(): Promise<void>;
	/** Adds an entry, unless its stream has one with the same name. */
	append(record: NewRecord): Promise<void>;
	/** Writes a value under a new number, replacing the one with the same name. */
	put(record: NewRecord & { readonly name: string }): Promise<void>;
	find(space: string, name: string): Promise<StoredRecord | undefined>;
	list(space: string, window: Window): Promise<readonly StoredRecord[]>;
	/** Returns all records of a space by number, in pages of limited size. */
	pages(kind: Kind, space: string): AsyncIterable<readonly StoredRecord[]>;
	spaces(kind: Kind): Promise<readonly string[]>;
	/** Returns the number of the oldest among the `newest` newest entries of a stream; 0 if there are fewer. */
	floor(space: string, newest: number): Promise<number>;
	/** Deletes expired entries, or the whole stream without `expired`; returns their number. */
	remove(space: string, expired?: Expired): Promise<number>;
	/** Replaces the body and vector of a record if it still exists, and removes its words. */
	rewrite(record: StoredRecord): Promise<void>;
	/** Makes deleted data unreadable, if the storage supports it. */
	compact(): Promise<void>;
	/**
	 * Returns the records that contain a word, best first, newest first among equals. Absent if the storage cannot
	 * search.
	 */
	search?(search: WordSearch): Promise<readonly FoundRecord[]>;
}
