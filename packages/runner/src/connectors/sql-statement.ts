// What a text of SQL is before a database sees it: one statement, of which kind, with how many placeholders. It reads texts,
// names and comments as SQLite does, and refuses what other databases would read in another way. Costs linear time.
import { HoldfastError } from "@holdfast/upp";

const longest = 100_000;
const reading: ReadonlySet<string> = new Set(["SELECT", "WITH", "VALUES"]);
const writing: ReadonlySet<string> = new Set([
	"INSERT",
	"UPDATE",
	"DELETE",
	"REPLACE",
	"MERGE",
	"CREATE",
	"ALTER",
	"DROP",
	"TRUNCATE",
]);
/** Inside a statement that begins by reading. */
const writingWithin: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE", "INTO"]);

/** What was found out about a statement. */
export interface ParsedStatement {
	readonly writes: boolean;
	/** Where its `?` are. */
	readonly placeholders: readonly number[];
}

/** @throws HoldfastError `SQL_REFUSED`. */
export function parseStatement(sql: string): ParsedStatement {
	if (sql.length > longest) throw sqlRefused(`it has more than ${longest} characters`);
	if (sql.includes("\0") || !sql.isWellFormed()) throw sqlRefused("it holds a NUL or half a character");
	const placeholders: number[] = [];
	const words = new Set<string>();
	let first: string | undefined;
	let isEnded = false;
	for (let at = 0; at < sql.length; ) {
		const skipped = afterBlank(sql, at);
		if (skipped > at) {
			at = skipped;
			continue;
		}
		const char = sql[at] as string;
		if (char === ";") {
			isEnded = true;
			at++;
			continue;
		}
		if (isEnded) throw sqlRefused("it holds several statements");
		const word = /[\p{L}_][\p{L}\p{N}_$]*/uy;
		word.lastIndex = at;
		const found = word.exec(sql)?.[0];
		if (found !== undefined) {
			const upper = found.toUpperCase();
			first ??= upper;
			words.add(upper);
			at += found.length;
			continue;
		}
		first ??= char;
		if (char === "?") placeholders.push(at);
		at = afterSymbol(sql, at);
	}
	if (first === undefined) throw sqlRefused("it is empty");
	if (!reading.has(first) && !writing.has(first))
		throw sqlRefused(`a statement that begins with ${JSON.stringify(first.slice(0, 40))} is never run`);
	return { writes: writing.has(first) || [...writingWithin].some((word) => words.has(word)), placeholders };
}

export function sqlRefused(why: string): HoldfastError {
	return new HoldfastError("SQL_REFUSED", `The SQL was refused: ${why}.`);
}

/** Where blanks and comments end. */
function afterBlank(sql: string, at: number): number {
	if (/\s/.test(sql[at] as string)) return at + 1;
	if (sql.startsWith("--", at)) {
		const end = sql.indexOf("\n", at);
		return end < 0 ? sql.length : end + 1;
	}
	if (!sql.startsWith("/*", at)) return at;
	const end = sql.indexOf("*/", at + 2);
	if (end < 0) throw sqlRefused("a comment does not end");
	return end + 2;
}

/** Where a text, a quoted name, a number or a sign ends. A doubled quote is two texts side by side. */
function afterSymbol(sql: string, at: number): number {
	const char = sql[at] as string;
	const next = sql[at + 1] ?? "";
	if (char === "'" || char === '"' || char === "`") {
		const end = sql.indexOf(char, at + 1);
		if (end < 0) throw sqlRefused("a quotation does not end");
		if (sql[end - 1] === "\\")
			throw sqlRefused("a quotation holds a backslash before a quote; give the text in `params`");
		return end + 1;
	}
	if (char === "[") {
		const end = sql.indexOf("]", at);
		if (end < 0 || !/^[\p{L}\p{N}_ ]*$/u.test(sql.slice(at + 1, end)))
			throw sqlRefused("a name in brackets is unusual");
		return end + 1;
	}
	if (/\d/.test(char)) {
		const number = /\d[\w.]*/y;
		number.lastIndex = at;
		return at + (number.exec(sql)?.[0].length ?? 1);
	}
	if (char === ":" && next === ":") return at + 2;
	if ((char === "?" && /\d/.test(next)) || (/[:@]/.test(char) && /[\p{L}_$]/u.test(next)) || char === "$")
		throw sqlRefused("placeholders are written `?`, one for each parameter");
	return at + 1;
}
