// Checksums of bodies: each covers the body and its identity, so that a check detects bits that the disk has flipped in
// either. Null if a release without checksums wrote the row, or changed it while a newer one had the file open.
import type { SqlConnection, SqlParameter } from "./connection.ts";

/** A table whose bodies have checksums. */
export type SummedTable =
	| "entries"
	| "inputs"
	| "chunks"
	| "session_values"
	| "records"
	| "timers"
	| "file_pieces";

interface SummedColumns {
	readonly body: string;
	readonly about: readonly string[];
}

/** Tables whose bodies have checksums: the column of the body, and those of its identity. */
export const summed: Readonly<Record<SummedTable, SummedColumns>> = {
	entries: { body: "body", about: ["kind", "version"] },
	inputs: { body: "body", about: ["kind", "id"] },
	chunks: { body: "body", about: ["seq", "sub"] },
	session_values: { body: "value", about: ["owner", "name"] },
	records: { body: "body", about: ["shelf", "name"] },
	timers: { body: "body", about: ["name"] },
	file_pieces: { body: "bytes", about: [] },
};

/**
 * Returns the checksum of a body: of the values in `about`, in the order of the table's columns, and then of the body.
 */
export function checksumOf(
	{ checksum }: Pick<SqlConnection, "checksum">,
	about: readonly SqlParameter[],
	body: SqlParameter,
): number | null {
	if (checksum === undefined || body === null || typeof body === "number") return null;
	if (about.length === 0) return checksum(body);
	const start = about.join(" ");
	// The same number as when seeding with the checksum of `start`, but with one call instead of two.
	return typeof body === "string" ? checksum(start + body) : checksum(body, checksum(start));
}

/**
 * Returns the function that computes the checksum of an entry, the same number as `checksumOf` for its columns. Entries
 * have few kinds, so the checksum of each kind and version is computed once, and the body is neither copied nor joined.
 */
export function entryChecksums({
	checksum,
}: Pick<SqlConnection, "checksum">): (kind: string, version: number, body: string) => number | null {
	if (checksum === undefined) return () => null;
	const seeds = new Map<string, { readonly version: number; readonly seed: number }>();
	return (kind, version, body) => {
		let known = seeds.get(kind);
		if (known?.version !== version) {
			known = { version, seed: checksum(`${kind} ${version}`) };
			seeds.set(kind, known);
		}
		return checksum(body, known.seed);
	};
}

/**
 * The migration that adds the columns. A release without them changes a body but not its checksum, so a trigger removes
 * the checksum; otherwise it would look like damage.
 */
export const addChecksums: string = `
	${Object.keys(summed)
		.map((table) => `ALTER TABLE ${table} ADD COLUMN sum INTEGER;`)
		.join("\n\t")}
	${unsummed("entries", "body", "id = new.id")}
	${unsummed("session_values", "value", "session = new.session AND owner = new.owner AND name = new.name")}
	${unsummed("records", "body", "shelf = new.shelf AND name = new.name")}
	${unsummed("timers", "body", "session = new.session AND name = new.name")}
`;

function unsummed(table: SummedTable, body: string, row: string): string {
	return `CREATE TRIGGER ${table}_unsummed AFTER UPDATE OF ${body} ON ${table}
		WHEN new.sum IS old.sum AND new.sum IS NOT NULL AND new.${body} IS NOT old.${body}
		BEGIN UPDATE ${table} SET sum = NULL WHERE ${row}; END;`;
}
