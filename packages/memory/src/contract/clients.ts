// A memory client and a database client over one storage, and their options.
import type { DatabaseClient, MatchOptions, QueryOptions } from "./database-client.ts";
import type { Embed } from "./embedding.ts";
import type {
	AppendOptions,
	MemoryCaller,
	MemoryClient,
	MemoryReadOptions,
	SearchMatch,
	SearchOptions,
} from "./memory-client.ts";

/** A memory client with all optional members of the interface. */
export interface FullMemoryClient extends MemoryClient {
	append(streamKey: string, entry: unknown, options?: AppendOptions): Promise<void>;
	// biome-ignore lint/suspicious/noExplicitAny: entries are the caller's own
	read(streamKey: string, options?: MemoryReadOptions): Promise<any[]>;
	search(query: string, options?: SearchOptions): Promise<SearchMatch[]>;
	clear(streamKey: string, options?: MemoryCaller): Promise<void>;
	start(): Promise<void>;
	health(): Promise<void>;
	/** Closes both clients. A later call opens them again. */
	close(): Promise<void>;
}

/** A database client with all optional members of the interface. */
export interface FullDatabaseClient extends DatabaseClient {
	// biome-ignore lint/suspicious/noExplicitAny: values are the caller's own
	query(collection: string, query: Readonly<Record<string, unknown>>, options?: QueryOptions): Promise<any[]>;
	search(text: string, options?: MatchOptions): Promise<SearchMatch[]>;
	start(): Promise<void>;
	health(): Promise<void>;
	/** Closes both clients. A later call opens them again. */
	close(): Promise<void>;
}

/** Both clients over one storage, and its maintenance. Opening or closing one of them opens or closes both. */
export interface Clients {
	/** The streams. */
	readonly memory: FullMemoryClient;
	/** The collections. */
	readonly database: FullDatabaseClient;
	/** Deletes expired entries; returns their number. */
	purge(): Promise<number>;
	/**
	 * Encrypts with the current key what is encrypted with another one; returns the number of records. Afterwards the
	 * other keys can be removed.
	 * @throws HoldfastError `ENCRYPTION_KEY_REQUIRED` without keys; `DECRYPT_FAILED` at a record that cannot be read.
	 */
	reencrypt(): Promise<number>;
	/** Connects. The first call of a client does so too. */
	start(): Promise<void>;
	/** Rejects if the storage is unusable. */
	health(): Promise<void>;
	/** Releases files and connections. A later call opens them again. */
	close(): Promise<void>;
}

/** The retention of a stream. Expired data is never returned; `purge()` deletes it. */
export interface Retention {
	/** Maximum age of an entry in milliseconds. Default: no limit. */
	readonly maxAgeMs?: number;
	/** Maximum number of entries per stream; the newest are kept. Default: no limit. */
	readonly maxEntries?: number;
}

/** Read and write permissions. If several rules match, each must grant access; if none does, everyone has access. */
export interface AccessRule {
	/** The stream it applies to; `*` as its last character matches any rest. */
	readonly stream?: string;
	/** The collection it applies to; `*` as its last character matches any rest. */
	readonly collection?: string;
	/** Roles that may read and search; a caller must have one of them. Default: all callers may. */
	readonly read?: readonly string[];
	/** Roles that may append, write and clear; a caller must have one of them. Default: all callers may. */
	readonly write?: readonly string[];
}

/** A refused access. Has the shape of the audit records of @holdfast/runner. */
export interface AccessRecord {
	/** A UUID. */
	readonly id: string;
	/** ISO 8601, UTC. */
	readonly timestamp: string;
	/** The caller's `agentId`; `unknown` if it gave none. */
	readonly agentId: string;
	/** Always `access`. */
	readonly point: string;
	/** The stream or collection that the rule names. */
	readonly rule: string;
	/** Always `denied`. */
	readonly action: string;
	/** The refused action, the stream or collection, and the roles of the caller. */
	readonly subject?: unknown;
}

/** Receives the records of refused accesses. */
export interface AccessAudit {
	/** Called before the access is refused. If it rejects, the error is the `cause` of `ACCESS_DENIED`. */
	write(record: AccessRecord): void | Promise<void>;
}

/** The encryption of values with AES-256-GCM. */
export interface Encryption {
	/** Keys of 32 bytes, or their base64, by ids of letters, digits, `.`, `_` and `-`. */
	readonly keys: Readonly<Record<string, Uint8Array | string>>;
	/** The id of the key used for writing; the others are only used for reading. */
	readonly current: string;
	/**
	 * Whether unencrypted values are accepted, for use while `reencrypt()` converts a storage. Otherwise they are
	 * rejected, because anyone with write access could replace a value. Default: `false`.
	 */
	readonly acceptPlain?: boolean;
}

/** Options of all clients. */
export interface MemoryClientOptions {
	/** Maximum bytes of an entry as UTF-8 JSON. Default: 65,536. */
	readonly maxEntryBytes?: number;
	/** Default: everything is kept. */
	readonly retention?: Retention;
	/** Default: all callers may read and write everything. */
	readonly access?: readonly AccessRule[];
	/** Records refused accesses. Default: none are recorded. */
	readonly audit?: AccessAudit;
	/** Searches by vectors in addition to words: each write then costs a call to the model. Default: words only. */
	readonly embed?: Embed;
	/** Encrypts values. Default: no encryption, which clients of persistent storages require you to confirm. */
	readonly encryption?: Encryption;
	/** Milliseconds since 1970. Default: `Date.now`. */
	readonly now?: () => number;
}

/** Options of clients with persistent storage. */
export interface PersistentOptions extends MemoryClientOptions {
	/** Writes values unencrypted. A client requires either this or `encryption`. */
	readonly unencrypted?: boolean;
}
