// What a SQLite store still has when all of its sessions were deleted.
import { DatabaseSync } from "node:sqlite";

/** What deletions may leave: the position of the feed, the names of removed sessions, and runs that were cancelled. */
const mayRemain: ReadonlySet<string> = new Set(["entries", "meta", "records", "removed_sessions"]);

/** The tables and the records of a closed store that deletions must not leave. */
export function leftInStore(path: string): {
	readonly tables: readonly string[];
	readonly entries: readonly string[];
	readonly records: readonly string[];
} {
	const database = new DatabaseSync(path, { readOnly: true });
	try {
		const named = database.prepare(
			"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
		);
		const tables = (named.all() as { name: string }[])
			.map(({ name }) => name)
			.filter((name) => !mayRemain.has(name))
			.filter((name) => database.prepare(`SELECT 1 FROM "${name}" LIMIT 1`).get() !== undefined);
		const kinds = database.prepare("SELECT kind FROM entries WHERE kind <> 'position'").all();
		const records = database.prepare("SELECT shelf, name, body FROM records").all();
		return {
			tables,
			entries: (kinds as { kind: string }[]).map(({ kind }) => kind),
			records: (records as { shelf: string; name: string; body: string }[])
				.filter(({ shelf, body }) => shelf !== "runs" || !isOver(body))
				.map(({ shelf, name, body }) => `${shelf} ${name}: ${body}`),
		};
	} finally {
		database.close();
	}
}

/** Whether a run is on record as cancelled, for a worker that is about to begin it. */
function isOver(body: string): boolean {
	return JSON.parse(body).status === "cancelled";
}
