// The connection for work on a whole store, and its transactions: they may take longer than the statements of a host.
import pg from "pg";
import { types } from "../database.ts";
import type { Resolved } from "../options.ts";
import { postgresError } from "../postgres-errors.ts";

/** An open transaction. */
export interface UpkeepTransaction {
	query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * `snapshot` reads one consistent state; `whole` reads one consistent state and writes; `short` waits for other writers
 * of the same rows.
 */
export type TransactionMode = "snapshot" | "whole" | "short";

const levels: Readonly<Record<TransactionMode, string>> = {
	snapshot: "REPEATABLE READ READ ONLY",
	whole: "REPEATABLE READ",
	short: "READ COMMITTED",
};

/** A separate connection. */
export interface UpkeepConnection {
	/**
	 * Runs work in one transaction and commits it; on failure nothing is stored. Statements have no time limit; waiting
	 * for a lock ends after `lockTimeoutMs`. Rejects with the errors of a host.
	 */
	transaction<T>(mode: TransactionMode, work: (transaction: UpkeepTransaction) => Promise<T>): Promise<T>;
	close(): Promise<void>;
}

/** Creates the connection, which opens with its first transaction. Supports one transaction at a time. */
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
				// A broken connection has already been rolled back.
				await client.query("ROLLBACK").catch(() => {});
				throw postgresError(error);
			}
		},
		close: () => client.end(),
	};
}

/** Runs one transaction on a new connection. */
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
