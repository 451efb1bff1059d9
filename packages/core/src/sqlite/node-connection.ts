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

/**
 * The connection of a database that nobody else uses through it. Reads that are asked for one right after the other share a
 * transaction from the second on: to begin and end one costs more than most reads. It is over before who awaits one of them
 * continues, so what is read next is what is there by then.
 */
export function ownConnection(database: DatabaseSync): SqlConnection {
	const connection = nodeConnection(database);
	const begin = database.prepare("BEGIN");
	const commit = database.prepare("COMMIT");
	let reads: "none" | "one" | "many" = "none";

	function endReading(): void {
		// An error may have ended it already, and closing the database does.
		if (reads === "many" && database.isOpen && database.isTransaction) commit.run();
		reads = "none";
	}

	function beginReading(): void {
		begin.run();
		reads = "many";
	}

	return {
		...connection,
		read(work, statements) {
			if (reads === "one") beginReading();
			else if (!database.isTransaction) {
				queueMicrotask(endReading);
				if (statements === "several") beginReading();
				else reads = "one";
			}
			return work();
		},
		atomically(work) {
			endReading();
			return connection.atomically(work);
		},
	};
}
