// The statements of a SQLite storage. External values are always bound, never part of a statement.
import type { DatabaseSync, StatementSync } from "node:sqlite";

const columns = "seq, kind, space, name, at, body, vector";

type Name =
	| `${"insert" | "insertOnce" | "deleteValue" | "find" | "page" | "spaces" | "floor" | "clear" | "expire" | "rewrite"}`
	| `${"add" | "drop"}${"Entry" | "Value"}Words`
	| `list${"Up" | "Down"}`
	| `textsWith${"Entry" | "Value"}Word`
	| "lastSeq"
	| `${"rank" | "newest" | "count"}${"Entries" | "Values"}`
	| `${"rank" | "newestOf" | "count"}${"Stream" | "Collection"}`;

const texts: Readonly<Record<Name, string>> = {
	insert: "INSERT INTO records (kind, space, name, at, body, vector) VALUES (?, ?, ?, ?, ?, ?)",
	insertOnce:
		"INSERT INTO records (kind, space, name, at, body, vector) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
	addEntryWords: "INSERT INTO entry_words (rowid, words) VALUES (?, ?)",
	addValueWords: "INSERT INTO value_words (rowid, words) VALUES (?, ?)",
	dropEntryWords: "DELETE FROM entry_words WHERE rowid = ?",
	dropValueWords: "DELETE FROM value_words WHERE rowid = ?",
	deleteValue: "DELETE FROM records WHERE kind = 'value' AND space = ? AND name = ? RETURNING seq",
	find: `SELECT ${columns} FROM records WHERE kind = 'value' AND space = ? AND name = ?`,
	listUp: `SELECT ${columns} FROM records WHERE kind = 'entry' AND space = ? AND seq >= ? AND at >= ? ORDER BY seq LIMIT ? OFFSET ?`,
	listDown: `SELECT ${columns} FROM records WHERE kind = 'entry' AND space = ? AND seq >= ? AND at >= ? ORDER BY seq DESC LIMIT ? OFFSET ?`,
	page: `SELECT ${columns} FROM records WHERE kind = ? AND space = ? AND seq > ? ORDER BY seq LIMIT ?`,
	spaces: "SELECT DISTINCT space FROM records WHERE kind = ?",
	floor: "SELECT seq FROM records WHERE kind = 'entry' AND space = ? ORDER BY seq DESC LIMIT 1 OFFSET ?",
	clear: "DELETE FROM records WHERE kind = 'entry' AND space = ? RETURNING seq",
	expire: "DELETE FROM records WHERE kind = 'entry' AND space = ? AND (seq < ? OR at < ?) RETURNING seq",
	rewrite: "UPDATE records SET body = ?, vector = ? WHERE seq = ?",
	textsWithEntryWord: "SELECT doc FROM temp.entry_vocabulary WHERE term = ?",
	textsWithValueWord: "SELECT doc FROM temp.value_vocabulary WHERE term = ?",
	lastSeq: "SELECT seq FROM sqlite_sequence WHERE name = 'records'",
	rankEntries: rankAll("entry_words"),
	rankValues: rankAll("value_words"),
	rankStream: rankOne("entry_words"),
	rankCollection: rankOne("value_words"),
	newestEntries: newestOfAll("entry_words"),
	newestValues: newestOfAll("value_words"),
	newestOfStream: newestOfOne("entry_words"),
	newestOfCollection: newestOfOne("value_words"),
	countEntries: "SELECT count(*) AS texts FROM entry_words WHERE entry_words MATCH ?",
	countValues: "SELECT count(*) AS texts FROM value_words WHERE value_words MATCH ?",
	countStream: countOne("entry_words"),
	countCollection: countOne("value_words"),
};

/** Only the returned records are read. */
function rankAll(table: string): string {
	return `SELECT ${columns}, score FROM
		(SELECT rowid AS found, -rank AS score FROM ${table} WHERE ${table} MATCH ? ORDER BY rank, rowid DESC LIMIT ? OFFSET ?)
		JOIN records ON seq = found ORDER BY score DESC, seq DESC`;
}

function rankOne(table: string): string {
	return `SELECT ${columns}, -rank AS score FROM ${table} JOIN records ON seq = ${table}.rowid
		WHERE ${table} MATCH ? AND space = ? ORDER BY rank, seq DESC LIMIT ? OFFSET ?`;
}

function newestOfAll(table: string): string {
	return `SELECT ${columns} FROM
		(SELECT rowid AS found FROM ${table} WHERE ${table} MATCH ? ORDER BY rowid DESC LIMIT ? OFFSET ?)
		JOIN records ON seq = found ORDER BY seq DESC`;
}

function newestOfOne(table: string): string {
	return `SELECT ${columns} FROM ${table} JOIN records ON seq = ${table}.rowid
		WHERE ${table} MATCH ? AND space = ? ORDER BY ${table}.rowid DESC LIMIT ? OFFSET ?`;
}

function countOne(table: string): string {
	return `SELECT count(*) AS texts FROM ${table} JOIN records ON seq = ${table}.rowid WHERE ${table} MATCH ? AND space = ?`;
}

/** Number of texts that contain a word; per connection. */
const vocabularies = `
	CREATE VIRTUAL TABLE temp.entry_vocabulary USING fts5vocab('main', 'entry_words', 'row');
	CREATE VIRTUAL TABLE temp.value_vocabulary USING fts5vocab('main', 'value_words', 'row');
`;

export type Statements = Readonly<Record<Name, StatementSync>>;

export function prepared(database: DatabaseSync): Statements {
	database.exec(vocabularies);
	return Object.fromEntries(
		Object.entries(texts).map(([name, text]) => [name, database.prepare(text)]),
	) as unknown as Statements;
}
