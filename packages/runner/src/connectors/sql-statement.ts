// Parses SQL before a database does: one statement, its kind and its placeholders. It accepts only what SQLite, Postgres
// and MySQL split into the same tokens, and refuses everything else: a text that two databases read differently can hide
// a statement from one of them. Takes linear time.
import { cutText, HoldfastError } from "@holdfast/upp";

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
/** Keywords that write inside a statement that starts as a read. */
const writingWithin: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE", "INTO"]);

/** A parsed statement. */
export interface ParsedStatement {
	readonly writes: boolean;
	/** The positions of its `?`. */
	readonly placeholders: readonly number[];
}

/** @throws HoldfastError `SQL_REFUSED`. */
export function parseStatement(sql: string): ParsedStatement {
	if (sql.length > longest) throw sqlRefused(`it has more than ${longest} characters`);
	if (sql.includes("\0") || !sql.isWellFormed()) throw sqlRefused("it contains a NUL or half a character");
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
		if (isEnded) throw sqlRefused("it contains several statements");
		const word = matched(wordAt, sql, at);
		first ??= word?.toUpperCase() ?? char;
		if (word !== undefined) words.add(word.toUpperCase());
		if (char === "?") placeholders.push(at);
		at = word === undefined ? afterSymbol(sql, at) : afterWord(sql, at, word);
	}
	if (first === undefined) throw sqlRefused("it is empty");
	if (!reading.has(first) && !writing.has(first))
		throw sqlRefused(`a statement that begins with ${JSON.stringify(cutText(first, 40))} is never run`);
	return { writes: writing.has(first) || [...writingWithin].some((word) => words.has(word)), placeholders };
}

export function sqlRefused(why: string): HoldfastError {
	return new HoldfastError("SQL_REFUSED", `The SQL was refused: ${why}.`);
}

const wordAt = /[\p{L}_][\p{L}\p{N}_$]*/uy;
/** Older releases of Postgres read `1INTO` as a number and a keyword. */
const numberAt = /(?:0x[\da-f]+|\d+(?:\.\d*)?(?:e[+-]?\d+)?)(?![\p{L}\p{N}_$.])/iuy;
/** MySQL requires whitespace after `--`; Postgres also ends the comment at a carriage return. */
const lineCommentAt = /--(?:[ \t][^\n\r\f\v\u0085\u2028\u2029]*)?(?=\r?\n|$)/y;
const plainName = /^[\p{L}\p{N}_ ]*$/u;
/** `b'…'`, `e'…'`, `n'…'`, `x'…'`. Oracle's `q'…'` ends elsewhere. */
const prefix = /^[benx]$/i;
const symbols = "()+,-./<>=*!|&%^~:?@";

function matched(pattern: RegExp, sql: string, at: number): string | undefined {
	pattern.lastIndex = at;
	return pattern.exec(sql)?.[0];
}

/** Returns the position after whitespace or a comment, or `at`. */
function afterBlank(sql: string, at: number): number {
	if (" \t\n\r".includes(sql[at] as string)) return at + 1;
	if (sql.startsWith("--", at)) {
		const comment = matched(lineCommentAt, sql, at);
		if (comment === undefined)
			throw sqlRefused(
				"databases read a comment in it differently; write a blank after `--`, and end the line with \\n",
			);
		return at + comment.length;
	}
	if (!sql.startsWith("/*", at)) return at;
	const end = sql.indexOf("*/", at + 2);
	if (end < 0) throw sqlRefused("a comment does not end");
	// MySQL executes `/*! … */`, MariaDB also `/*M! … */`; Postgres nests comments.
	if (/^(?:M?!|\+)/.test(sql.slice(at + 2, at + 4)) || sql.slice(at + 2, end + 1).includes("/*"))
		throw sqlRefused("databases read a comment in it differently");
	return end + 2;
}

function afterWord(sql: string, at: number, word: string): number {
	const end = at + word.length;
	if (sql[end] === "'" && !prefix.test(word))
		throw sqlRefused(
			`databases may read the text after ${JSON.stringify(cutText(word, 40))} differently; write a space`,
		);
	return end;
}

/**
 * Returns the position after a string, a quoted name, a number or an operator. A doubled quote counts as two adjacent
 * strings.
 */
function afterSymbol(sql: string, at: number): number {
	const char = sql[at] as string;
	const next = sql[at + 1] ?? "";
	if (char === "'" || char === '"' || char === "`") {
		const end = sql.indexOf(char, at + 1);
		if (end < 0) throw sqlRefused("a quotation does not end");
		if (sql[end - 1] === "\\")
			throw sqlRefused("a quotation contains a backslash before a quote; pass the text in `params`");
		// A backtick is an operator in Postgres, where a quote after it would start a string.
		if (char === "`" && !plainName.test(sql.slice(at + 1, end)))
			throw sqlRefused("a name in backticks is unusual; write it in double quotes");
		return end + 1;
	}
	if (char === "[") {
		const end = sql.indexOf("]", at);
		if (end < 0 || !plainName.test(sql.slice(at + 1, end))) throw sqlRefused("a name in brackets is unusual");
		return end + 1;
	}
	if (/\d/.test(char)) {
		const number = matched(numberAt, sql, at);
		if (number === undefined) throw sqlRefused("a number runs into a word or another number");
		return at + number.length;
	}
	if (char === ":" && next === ":") return at + 2;
	if ((char === "?" && /\d/.test(next)) || (/[:@]/.test(char) && /[\p{L}_$]/u.test(next)) || char === "$")
		throw sqlRefused("placeholders are written `?`, one for each parameter");
	// `#` starts a comment in MySQL and is an operator in Postgres; other characters are part of a name in some
	// databases.
	if (!symbols.includes(char))
		throw sqlRefused(
			`databases read ${JSON.stringify(String.fromCodePoint(sql.codePointAt(at) as number))} differently`,
		);
	return at + 1;
}
