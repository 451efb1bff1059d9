// The interface between the SQL connector and a database.

/** A value to bind to a placeholder. */
export type SqlValue = null | boolean | number | string;

/** One statement. It was verified to be a single one, to have as many `?` as parameters, and to write only if it may. */
export interface SqlStatement {
	/** The text of the statement. */
	readonly sql: string;
	/** Positions of the `?` in `sql`, for databases that number them. */
	readonly placeholders: readonly number[];
	/** The values of its placeholders, in order. */
	readonly params: readonly SqlValue[];
	/** The driver must prevent every write, for example by a read-only connection or transaction. */
	readonly readOnly: boolean;
	/** Maximum number of rows to return. */
	readonly maxRows: number;
	/** Approximate maximum length of all rows as JSON, in characters. */
	readonly maxCharacters: number;
	/** Milliseconds after which the signal fires, for databases with a limit of their own. */
	readonly timeoutMs: number;
}

/** The result of a statement. */
export interface SqlRows {
	/** Plain data by column name. */
	readonly rows: readonly Readonly<Record<string, unknown>>[];
	/** Number of changed rows. */
	readonly changes?: number;
	/** Whether there were more rows than requested. */
	readonly truncated?: boolean;
}

/**
 * A database. It prepares a statement before it executes anything, binds parameters and never writes them into the text.
 * The errors `SQL_REFUSED` and `SQL_READONLY` keep their code; every other one becomes `SQL_FAILED`.
 */
export interface SqlDriver {
	/** Ends the statement when the signal fires. */
	query(statement: SqlStatement, signal: AbortSignal): Promise<SqlRows>;
	/** Releases resources that the driver holds. */
	close?(): Promise<void>;
}
