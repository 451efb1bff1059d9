// The connection that node:sqlite provides.
import type { DatabaseSync } from "node:sqlite";
import type { SqlConnection, SqlStatement } from "./connection.ts";

/** A database of node:sqlite as a connection. */
export function nodeConnection(database: DatabaseSync): SqlConnection {
	const begin = database.prepare("BEGIN IMMEDIATE");
	const commit = database.prepare("COMMIT");
	return {
		exec: (text) => database.exec(text),
		prepare: (text) => database.prepare(text) as unknown as SqlStatement,
		atomically(work) {
			begin.run();
			try {
				const result = work();
				commit.run();
				return result;
			} catch (error) {
				// A full disk may have rolled everything back already.
				if (database.isTransaction) database.exec("ROLLBACK");
				throw error;
			}
		},
	};
}
