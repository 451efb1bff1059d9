// The interface between the SQL connector and a database.

/** A value that is bound to a placeholder. */
export type SqlValue = null | boolean | number | string;

/** One statement. It was found to be one, to have as many `?` as parameters, and to write only where it may. */
export interface SqlStatement {
	readonly sql: string;
	/** Where the `?` of `sql` are, for databases that number them. */
	readonly placeholders: readonly number[];
	readonly params: readonly SqlValue[];
	/** The driver must prevent every write, for example by a read-only connection or transaction. */
	readonly readOnly: boolean;
	readonly maxRows: number;
	/** Characters of all rows as JSON, about. */
	readonly maxCharacters: number;
	/** Milliseconds after which the signal fires, for a limit that the database itself keeps. */
	readonly timeoutMs: number;
}

/** The result of a statement. */
export interface SqlRows {
	/** Plain data by name of the column. */
	readonly rows: readonly Readonly<Record<string, unknown>>[];
	/** Rows that were changed. */
	readonly changes?: number;
	/** There were more rows than were asked for. */
	readonly truncated?: boolean;
}

/**
 * A database. It prepares a statement before it executes anything, binds parameters and never writes them into the text.
 * Errors of the house, `SQL_REFUSED` and `SQL_READONLY`, keep their code; every other one becomes `SQL_FAILED`.
 */
export interface SqlDriver {
	/** Ends the statement when the signal fires. */
	query(statement: SqlStatement, signal: AbortSignal): Promise<SqlRows>;
	/** Frees what the driver keeps open. */
	close?(): Promise<void>;
}
