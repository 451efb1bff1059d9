// The process that queries one SQLite file: this module, started again as a program, so that it is found in a bundle as
// well. It ends with the process that started it.
import { writeFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { SqlStatement } from "./sql-driver.ts";
import { querySqlite } from "./sqlite-query.ts";

/** The first argument of the program; the second is the path of the file. */
const mark = "holdfast-sqlite-process";

/** What is started, and with which arguments. */
export function sqliteProgram(path: string): readonly [program: string, argv: readonly string[]] {
	return [fileURLToPath(import.meta.url), [mark, path]];
}

if (process.argv[2] === mark && process.send !== undefined) serve(process.argv[3] as string);

function serve(path: string): void {
	// Loaded here only: who imports this module without using SQLite gets no warning that it is experimental.
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
}
