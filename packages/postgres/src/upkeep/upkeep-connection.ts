// The one connection of work on a whole store, and its transactions: they may take longer than any statement of a host.
import pg from "pg";
import { types } from "../database.ts";
import type { Resolved } from "../options.ts";
import { postgresError } from "../postgres-errors.ts";

/** A transaction under way. */
export interface UpkeepTransaction {
	query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** `snapshot` reads one moment; `whole` sees one moment and writes; `short` waits for others who write to the same rows. */
export type TransactionMode = "snapshot" | "whole" | "short";

const levels: Readonly<Record<TransactionMode, string>> = {
	snapshot: "REPEATABLE READ READ ONLY",
	whole: "REPEATABLE READ",
	short: "READ COMMITTED",
};

/** A connection of its own. */
export interface UpkeepConnection {
	/**
	 * Runs work in one transaction and commits it; on failure nothing is stored. Statements have no time limit; waiting
	 * for a lock ends after `lockTimeoutMs`. Rejects with the errors of a host.
	 */
	transaction<T>(mode: TransactionMode, work: (transaction: UpkeepTransaction) => Promise<T>): Promise<T>;
	close(): Promise<void>;
}

/** Makes the connection; it connects with its first transaction. One transaction at a time. */
export function upkeepConnection({ connection, lockTimeoutMs }: Resolved): UpkeepConnection {
	const client = new pg.Client({ ...connection, query_timeout: 0, statement_timeout: 0 });
	// An error that breaks the connection rejects the current statement, or the next one.
	client.on("error", () => {});
	let connecting: Promise<unknown> | undefined;
	const transaction: UpkeepTransaction = {
		async query<Row>(text: string, values: readonly unknown[] = []) {
			const { rows } = await client.query({ text, values: [...values], types: types as never });
			return rows as Row[];
		},
	};
	return {
		async transaction(mode, work) {
			try {
				connecting ??= client.connect();
				await connecting;
				await client.query(`BEGIN ISOLATION LEVEL ${levels[mode]}`);
				// For this transaction only: behind a pooler, the next one may belong to another client.
				await client.query(
					`SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = ${lockTimeoutMs}`,
				);
				const result = await work(transaction);
				await client.query("COMMIT");
				return result;
			} catch (error) {
				// A connection that broke has rolled back by itself.
				await client.query("ROLLBACK").catch(() => {});
				throw postgresError(error);
			}
		},
		close: () => client.end(),
	};
}

/** One transaction on a connection that is made for it. */
export async function inOneTransaction<T>(
	options: Resolved,
	mode: TransactionMode,
	work: (transaction: UpkeepTransaction) => Promise<T>,
): Promise<T> {
	const connection = upkeepConnection(options);
	try {
		return await connection.transaction(mode, work);
	} finally {
		await connection.close().catch(() => {});
	}
}
