// The process that queries one SQLite file. It ends when its parent process ends.
import { writeFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { SqlStatement } from "./sql-driver.ts";
import { querySqlite } from "./sqlite-query.ts";

/** Executes the statements that the parent process sends, on the database at `path`. */
export function serveSqlite(path: string): void {
	// Loaded here only: importing this module must not print the warning that SQLite is experimental.
	const sqlite = process.getBuiltinModule("node:sqlite");
	const open = new Map<boolean, DatabaseSync>();
	const databaseFor = ({ readOnly }: SqlStatement): DatabaseSync => {
		const known = open.get(readOnly);
		if (known !== undefined) return known;
		const database = new sqlite.DatabaseSync(path, { readOnly, timeout: 2_000 });
		open.set(readOnly, database);
		return database;
	};
	try {
		// If memory runs out, the kernel ends this process before its parent.
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
}
