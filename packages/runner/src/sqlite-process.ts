// Entry point `@holdfast/runner/sqlite-process`: the program that queries one SQLite file. `sqliteDriver` starts it.
import { serveSqlite } from "./connectors/sqlite-process.ts";

const [, , mark, path] = process.argv;

// If imported elsewhere, it does nothing.
if (mark === "holdfast-sqlite-process" && path !== undefined && process.send !== undefined) serveSqlite(path);
