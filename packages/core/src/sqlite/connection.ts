// A synchronous connection to a SQLite database from any provider: `node:sqlite`, or the storage of a Durable Object.

/** The types of a statement's parameter. */
export type SqlParameter = string | number | null | Uint8Array;

/** A statement of a connection. Parameters are given in order, or as one object by their names. */
export interface SqlStatement {
	/** The rows, as objects; as lists if that was requested. */
	all(...parameters: readonly (SqlParameter | SqlParameters)[]): unknown[];
	/** The first row, or undefined. */
	get(...parameters: readonly (SqlParameter | SqlParameters)[]): unknown;
	/** Rows, read one by one. */
	iterate(...parameters: readonly (SqlParameter | SqlParameters)[]): Iterable<unknown>;
	run(...parameters: readonly (SqlParameter | SqlParameters)[]): SqlOutcome;
	/** Asks for rows as lists of their columns. Absent: rows are objects whose members have the order of the columns. */
	setReturnArrays?(arrays: true): void;
}

/** Parameters by name, without the colon before them in the statement. */
export type SqlParameters = Readonly<Record<string, SqlParameter>>;

/** The outcome of a statement. */
export interface SqlOutcome {
	readonly changes: number | bigint;
	readonly lastInsertRowid: number | bigint;
}

/** A connection. Everything happens at once: nothing of it waits. */
export interface SqlConnection {
	/** Runs statements, one after the other. */
	exec(text: string): void;
	prepare(text: string): SqlStatement;
	/**
	 * Runs `work` within one write transaction, and commits it. An error of `work` or of the commit is rethrown after a
	 * rollback; if the transaction cannot start, `work` is not called.
	 */
	atomically<T>(work: () => T): T;
	/**
	 * Runs a read of one statement or several, which may share a transaction with others that are asked for at once. Absent:
	 * each statement has one of its own.
	 */
	read?<T>(work: () => T, statements: "one" | "several"): T;
	/**
	 * The CRC-32 of text as UTF-8, or of bytes, continuing from the CRC-32 in `before`. It is stored with each body, so
	 * that a check finds bits that the disk has flipped. Absent: bodies have no checksum, for storage that checks itself.
	 */
	checksum?(data: string | Uint8Array, before?: number): number;
}
