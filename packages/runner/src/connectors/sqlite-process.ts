// The process that queries one SQLite file. It ends with the process that started it.
import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { SqlStatement } from "./sql-driver.ts";
import { querySqlite } from "./sqlite-query.ts";

const path = process.argv[2] as string;
const open = new Map<boolean, DatabaseSync>();

try {
	// Where memory runs out, a statement that took it all is ended first.
	writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {}

process.on("disconnect", () => process.exit());
process.on("message", (statement: SqlStatement) => {
	try {
		process.send?.(querySqlite(databaseFor(statement), statement));
	} catch (error) {
		const message = `The database cannot be opened: ${(error as Error).message}.`;
		process.send?.({ ok: false, failure: { code: "SQL_FAILED", message } });
	}
});

function databaseFor({ readOnly }: SqlStatement): DatabaseSync {
	const known = open.get(readOnly);
	if (known !== undefined) return known;
	const database = new DatabaseSync(path, { readOnly, timeout: 2_000 });
	open.set(readOnly, database);
	return database;
}
