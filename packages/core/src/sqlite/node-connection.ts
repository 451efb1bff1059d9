// The connection that node:sqlite provides.
import type { DatabaseSync } from "node:sqlite";
import * as zlib from "node:zlib";
import type { SqlConnection, SqlStatement } from "./connection.ts";

/** The checksum function of Node, which is missing before 20.15. */
export const nodeChecksum: Pick<SqlConnection, "checksum"> =
	(zlib as Partial<typeof zlib>).crc32 === undefined ? {} : { checksum: zlib.crc32 };

/** Ends a failed transaction. A full disk may already have ended it, and an error here would hide the original one. */
function rollBack(database: DatabaseSync): void {
	try {
		if (database.isTransaction) database.exec("ROLLBACK");
	} catch {}
}

/** Wraps a node:sqlite database as a connection. */
export function nodeConnection(database: DatabaseSync): SqlConnection {
	const begin = database.prepare("BEGIN IMMEDIATE");
	const commit = database.prepare("COMMIT");
	return {
		exec: (text) => database.exec(text),
		prepare: (text) => database.prepare(text) as unknown as SqlStatement,
		...nodeChecksum,
		atomically(work) {
			begin.run();
			try {
				const result = work();
				commit.run();
				return result;
			} catch (error) {
				rollBack(database);
				throw error;
			}
		},
	};
}

/**
 * Creates the exclusive connection of a database. From the second one on, successive reads share a transaction, because
 * starting and ending one costs more than most reads. The transaction ends before the caller that awaits one of them
 * continues, so later reads see current data.
 */
export function ownConnection(database: DatabaseSync): SqlConnection {
	const connection = nodeConnection(database);
	const begin = database.prepare("BEGIN");
	const commit = database.prepare("COMMIT");
	let reads: "none" | "one" | "many" = "none";

	/** Never throws, because an error in a microtask would be uncaught, and the readers already have their results. */
	function endReading(): void {
		const isOpen = reads === "many" && database.isOpen && database.isTransaction;
		reads = "none";
		if (!isOpen) return;
		try {
			commit.run();
		} catch {
			// For example, the file is damaged. The next call reports it, or finds it repaired.
			rollBack(database);
		}
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
