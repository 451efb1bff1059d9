// The used part of the platform, as structural types. The types of `@cloudflare/workers-types` are compatible.

/** The rows of a statement, read one by one. */
export interface SqlCursor {
	toArray(): Record<string, unknown>[];
	raw(): IterableIterator<unknown[]>;
	[Symbol.iterator](): Iterator<Record<string, unknown>>;
}

/** The storage of a Durable Object. */
export interface ObjectStorage {
	readonly sql: {
		// biome-ignore lint/suspicious/noExplicitAny: the platform's own type of bindings and rows
		exec(query: string, ...bindings: any[]): any;
	};
	transactionSync<T>(work: () => T): T;
	getAlarm(): Promise<number | null>;
	setAlarm(at: number | Date): Promise<void>;
	deleteAlarm(): Promise<void>;
	deleteAll(): Promise<void>;
}

/** The state of a Durable Object. */
export interface ObjectState {
	readonly id: { toString(): string };
	readonly storage: ObjectStorage;
	waitUntil(promise: Promise<unknown>): void;
}

/** A reference to a Durable Object. */
export interface ObjectStub {
	fetch(input: string, init?: RequestInit): Promise<Response>;
}

/** A binding to a class of Durable Objects. */
export interface ObjectNamespace {
	// biome-ignore lint/suspicious/noExplicitAny: the platform's ids are opaque
	idFromName(name: string): any;
	// biome-ignore lint/suspicious/noExplicitAny: the platform's ids are opaque
	get(id: any): ObjectStub;
}
