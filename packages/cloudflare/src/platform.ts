// The used part of the platform, as structural types. The types of `@cloudflare/workers-types` are compatible.

/** The rows of a statement, read one by one. */
export interface SqlCursor {
	toArray(): Record<string, unknown>[];
	raw(): IterableIterator<unknown[]>;
	[Symbol.iterator](): Iterator<Record<string, unknown>>;
}

/** The storage of a Durable Object. */
export interface ObjectStorage {
	/** Runs statements of SQLite. */
	readonly sql: {
		// biome-ignore lint/suspicious/noExplicitAny: the platform's own type of bindings and rows
		exec(query: string, ...bindings: any[]): any;
	};
	/** Runs `work` in a transaction, and rolls it back if `work` throws. */
	transactionSync<T>(work: () => T): T;
	/** Returns the time of the alarm, in milliseconds since the epoch; null if none is set. */
	getAlarm(): Promise<number | null>;
	/** Sets the time at which `alarm` is called. */
	setAlarm(at: number | Date): Promise<void>;
	/** Removes the alarm. */
	deleteAlarm(): Promise<void>;
	/** Deletes all data of the object. */
	deleteAll(): Promise<void>;
}

/** The state of a Durable Object. */
export interface ObjectState {
	/** The id of the object. */
	readonly id: { toString(): string };
	/** Its storage. */
	readonly storage: ObjectStorage;
	/** Keeps the object alive until the promise settles. */
	waitUntil(promise: Promise<unknown>): void;
}

/** A reference to a Durable Object. */
export interface ObjectStub {
	/** Sends a request to the object. */
	fetch(input: string, init?: RequestInit): Promise<Response>;
}

/** A binding to a class of Durable Objects. */
export interface ObjectNamespace {
	/** Returns the id of the object with this name. */
	// biome-ignore lint/suspicious/noExplicitAny: the platform's ids are opaque
	idFromName(name: string): any;
	/** Returns a reference to an object, which starts with its first request. */
	// biome-ignore lint/suspicious/noExplicitAny: the platform's ids are opaque
	get(id: any): ObjectStub;
}
