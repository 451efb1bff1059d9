/**
 * Compares each body with the checksum written with it: this finds bits flipped by the disk if the result is still
 * readable.
 */
import type { JournalFile } from "holdfast/sqlite";
import type { Finding } from "./finding.ts";

type Table = keyof JournalFile["summed"];

/** The display name of a row, by its columns. */
const names: Readonly<Record<Table, { readonly columns: string; readonly isOfSession: boolean }>> = {
	entries: { columns: "'entry ' || seq", isOfSession: true },
	inputs: { columns: "'input ' || position", isOfSession: true },
	chunks: { columns: "'chunk ' || sub || ' after entry ' || seq", isOfSession: true },
	session_values: { columns: "'the value ' || name || ' of ' || owner", isOfSession: true },
	timers: { columns: "'timer ' || name", isOfSession: true },
	records: { columns: "'the record ' || name || ' of ' || shelf", isOfSession: false },
	file_pieces: { columns: "'piece ' || id || ' of the files'", isOfSession: false },
};

/** Reads all bodies that have a checksum. */
export function checkSums(file: JournalFile, finding: Finding): void {
	for (const [table, { body, about }] of Object.entries(file.summed) as [Table, Columns][]) {
		const { columns, isOfSession } = names[table];
		const key = isOfSession ? `(SELECT key FROM sessions WHERE id = ${table}.session)` : "NULL";
		const rows = file.database.prepare(
			`SELECT ${["sum", `${body} AS body`, `${columns} AS what`, `${key} AS session_key`, ...about].join(", ")}
				FROM ${table} WHERE sum IS NOT NULL`,
		);
		for (const row of rows.iterate() as Iterable<SummedRow>) {
			const sum = file.sumOf(
				about.map((column) => row[column] as string | number),
				row.body,
			);
			if (sum === null || sum === row.sum) continue;
			const session = row.session_key === null ? undefined : file.text(row.session_key);
			finding.found(`the body of ${file.text(row.what)} does not have its checksum`, session);
		}
	}
}

interface Columns {
	readonly body: string;
	readonly about: readonly string[];
}

interface SummedRow {
	readonly sum: number;
	readonly body: string | Uint8Array | null;
	readonly what: string;
	readonly session_key: string | null;
	readonly [column: string]: unknown;
}
