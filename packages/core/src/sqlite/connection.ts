// A synchronous connection to a SQLite database from any provider: `node:sqlite`, or the storage of a Durable Object.

/** The types of a statement's parameter. */
export type SqlParameter = string | number | null | Uint8Array;

/** A statement of a connection. Parameters are given in order, or as one object by their names. */
export interface SqlStatement {
	/** Returns the rows, as objects, or as lists if requested. */
	all(...parameters: readonly (SqlParameter | SqlParameters)[]): unknown[];
	/** Returns the first row, or undefined. */
	get(...parameters: readonly (SqlParameter | SqlParameters)[]): unknown;
	/** Yields rows one by one. */
	iterate(...parameters: readonly (SqlParameter | SqlParameters)[]): Iterable<unknown>;
	/** Runs a statement that returns no rows. */
	run(...parameters: readonly (SqlParameter | SqlParameters)[]): SqlOutcome;
	/** Requests rows as lists of their columns. Absent: rows are objects whose members are in column order. */
	setReturnArrays?(arrays: true): void;
}

/** Parameters by name, without the colon that precedes them in the statement. */
export type SqlParameters = Readonly<Record<string, SqlParameter>>;

/** The outcome of a statement. */
export interface SqlOutcome {
	/** How many rows it changed. */
	readonly changes: number | bigint;
	/** The id of the last inserted row. */
	readonly lastInsertRowid: number | bigint;
}

/** A connection. All operations are synchronous. */
export interface SqlConnection {
	/** Runs statements, one after the other. */
	exec(text: string): void;
	/** Prepares a statement. */
	prepare(text: string): SqlStatement;
	/**
	 * Runs `work` within one write transaction and commits it. If `work` or the commit throws, rolls back and rethrows
	 * the error. If the transaction cannot start, `work` is not called.
	 */
	atomically<T>(work: () => T): T;
	/**
	 * Runs a read of one or more statements, which may share a transaction with others requested at the same time.
	 * Absent: each statement has its own.
	 */
	read?<T>(work: () => T, statements: "one" | "several"): T;
	/**
	 * Returns the CRC-32 of text as UTF-8, or of bytes, continuing from the CRC-32 in `before`. It is stored with each
	 * body, so that a check detects bits that the disk has flipped. Absent: bodies have no checksum, for storage that has
	 * its own checks.
	 */
	checksum?(data: string | Uint8Array, before?: number): number;
}
