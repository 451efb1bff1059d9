// The interface that a storage implements for memory and database clients: it keeps records in order. Records are
// validated texts, encrypted if encryption is on; spaces and names are in the form of `storedName`.

/** An entry of a stream, or a value of a collection. */
export type Kind = "entry" | "value";

/** What is written. */
export interface NewRecord {
	/** The stream or the collection. */
	readonly space: string;
	/** The key of a value, or the id of an entry, where it has one. */
	readonly name: string | null;
	/** Milliseconds since 1970. */
	readonly at: number;
	readonly body: string;
	/** Bytes of a vector, encrypted where the body is. */
	readonly vector: Uint8Array | null;
	/** The words for search; undefined if the text is encrypted. */
	readonly words: readonly string[] | undefined;
}

/** What is read. */
export interface StoredRecord extends Omit<NewRecord, "words"> {
	readonly kind: Kind;
	/** Grows with every write to the place, and is never used again. */
	readonly seq: number;
}

/** The part of a stream that is read. */
export interface Window {
	readonly order: "asc" | "desc";
	readonly offset: number;
	readonly limit: number | undefined;
	/** Leaves out entries with a lower number. */
	readonly fromSeq: number;
	/** Leaves out entries that are older. */
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

/** A record that was found, with how well it matches. */
export interface FoundRecord {
	readonly record: StoredRecord;
	readonly score: number;
}

/** Entries to delete: those that are older, or have a lower number. */
export interface Expired {
	readonly before: number;
	readonly belowSeq: number;
}

export interface Storage {
	/** Connects, and makes what is missing. Called before anything else, and again after `close`. */
	open(): Promise<void>;
	close(): Promise<void>;
	/** Rejects where it cannot be used. */
	ping(): Promise<void>;
	/** Adds an entry; nothing where its stream has one of the same name. */
	append(record: NewRecord): Promise<void>;
	/** Writes a value in place of the one of the same name, under a new number. */
	put(record: NewRecord & { readonly name: string }): Promise<void>;
	find(space: string, name: string): Promise<StoredRecord | undefined>;
	list(space: string, window: Window): Promise<readonly StoredRecord[]>;
	/** All records of a space by number, a bounded number at a time. */
	pages(kind: Kind, space: string): AsyncIterable<readonly StoredRecord[]>;
	spaces(kind: Kind): Promise<readonly string[]>;
	/** The number of the oldest among the `newest` newest entries of a stream; 0 where there are fewer. */
	floor(space: string, newest: number): Promise<number>;
	/** Deletes entries, all of the stream without `expired`, and gives how many. */
	remove(space: string, expired?: Expired): Promise<number>;
	/** Puts another body and vector in place of those of a record that is still there, and forgets its words. */
	rewrite(record: StoredRecord): Promise<void>;
	/** Makes what was deleted unreadable, as far as the place can. */
	compact(): Promise<void>;
	/** Records that have a word, best first, newest first among equals. Absent where the place cannot search. */
	search?(search: WordSearch): Promise<readonly FoundRecord[]>;
}
