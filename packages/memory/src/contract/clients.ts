// A memory client and a database client over one place, and what they are made with.
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

/** A memory client with everything that is optional in the interface. */
export interface FullMemoryClient extends MemoryClient {
	append(streamKey: string, entry: unknown, options?: AppendOptions): Promise<void>;
	// biome-ignore lint/suspicious/noExplicitAny: entries are the caller's own
	read(streamKey: string, options?: MemoryReadOptions): Promise<any[]>;
	search(query: string, options?: SearchOptions): Promise<SearchMatch[]>;
	clear(streamKey: string, options?: MemoryCaller): Promise<void>;
	start(): Promise<void>;
	health(): Promise<void>;
	close(): Promise<void>;
}

/** A database client with everything that is optional in the interface. */
export interface FullDatabaseClient extends DatabaseClient {
	// biome-ignore lint/suspicious/noExplicitAny: values are the caller's own
	query(collection: string, query: Readonly<Record<string, unknown>>, options?: QueryOptions): Promise<any[]>;
	search(text: string, options?: MatchOptions): Promise<SearchMatch[]>;
	start(): Promise<void>;
	health(): Promise<void>;
	close(): Promise<void>;
}

/** Both clients over one storage, and its maintenance. Opening or closing one of them opens or closes both. */
export interface Clients {
	readonly memory: FullMemoryClient;
	readonly database: FullDatabaseClient;
	/** Deletes what retention no longer keeps, and gives how many entries that were. */
	purge(): Promise<number>;
	/**
	 * Encrypts with the current key what is encrypted with another one, and gives how many records that were. Afterwards
	 * the other keys may be removed.
	 * @throws HoldfastError `ENCRYPTION_KEY_REQUIRED` without keys; `DECRYPT_FAILED` at a record that cannot be read.
	 */
	reencrypt(): Promise<number>;
	/** Connects. A first call of a client does so too. */
	start(): Promise<void>;
	/** Rejects where the place cannot be used. */
	health(): Promise<void>;
	/** Releases files and connections. A later call opens them again. */
	close(): Promise<void>;
}

/** The retention of a stream. Expired data is never returned; `purge()` deletes it. */
export interface Retention {
	/** Age of an entry at most, in milliseconds. Default: any. */
	readonly maxAgeMs?: number;
	/** Entries of a stream at most: the newest. Default: any number. */
	readonly maxEntries?: number;
}

/** Read and write permissions. If several rules match, each must grant access; if none does, everyone has access. */
export interface AccessRule {
	/** The stream it is for; `*` as its last character matches any rest. */
	readonly stream?: string;
	/** The collection it is for; `*` as its last character matches any rest. */
	readonly collection?: string;
	/** Roles that may read and search; a caller needs one of them. Default: everyone may. */
	readonly read?: readonly string[];
	/** Roles that may append, write and clear; a caller needs one of them. Default: everyone may. */
	readonly write?: readonly string[];
}

/** A refused access. Has the shape of the audit records of @holdfast/runner. */
export interface AccessRecord {
	readonly id: string;
	/** ISO 8601, UTC. */
	readonly timestamp: string;
	/** The caller's `agentId`; `unknown` if it gave none. */
	readonly agentId: string;
	readonly point: string;
	/** The stream or collection that the rule names. */
	readonly rule: string;
	readonly action: string;
	readonly subject?: unknown;
}

/** Takes the records of refused accesses. */
export interface AccessAudit {
	write(record: AccessRecord): void | Promise<void>;
}

/** Keys that values are encrypted with: AES-256-GCM. */
export interface Encryption {
	/** Keys of 32 bytes, or base64 of them, by ids of letters, digits, `.`, `_` and `-`. */
	readonly keys: Readonly<Record<string, Uint8Array | string>>;
	/** The id of the key that is written with; the others are only read with. */
	readonly current: string;
	/**
	 * Whether unencrypted values are accepted, for use while `reencrypt()` converts a storage. Otherwise they are
	 * refused, since anyone who can write there could replace a value. Default: `false`.
	 */
	readonly acceptPlain?: boolean;
}

/** Options of all clients. */
export interface MemoryClientOptions {
	/** Bytes of an entry as UTF-8 JSON at most. Default: 65,536. */
	readonly maxEntryBytes?: number;
	/** Default: everything is kept. */
	readonly retention?: Retention;
	/** Default: everyone may read and write everything. */
	readonly access?: readonly AccessRule[];
	/** Where refused accesses are recorded. Default: nowhere. */
	readonly audit?: AccessAudit;
	/** Joins vectors to words when searching: each write then costs a call of the model. Default: words only. */
	readonly embed?: Embed;
	/** Encrypts values. Default: they are not, which clients of persistent places must be asked for. */
	readonly encryption?: Encryption;
	/** Milliseconds since 1970. Default: `Date.now`. */
	readonly now?: () => number;
}

/** Options of clients of persistent places. */
export interface PersistentOptions extends MemoryClientOptions {
	/** Writes values unencrypted. A client requires either this or `encryption`. */
	readonly unencrypted?: boolean;
}
