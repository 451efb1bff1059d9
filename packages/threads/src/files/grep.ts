// Searches the text files of a thread line by line, in bounded memory and linear time: patterns use RE2, which has no
// lookaround and no backreferences and never backtracks.
import { cutText, messageOf } from "@holdfast/upp";
import { isHoldfastError } from "holdfast";
import { systemPorts } from "holdfast/host";
import { RE2JS } from "re2js";
import type { GrepResult } from "../types/index.ts";
import { invalidPattern } from "./glob.ts";
import type { ThreadFiles } from "./thread-files.ts";

/** The maximum length of a searched line in characters; longer lines are searched in pieces of that length. */
const longestLine = 256 * 1024;
/** The number of leading bytes in which a NUL marks a file as binary. */
const sniffed = 8_192;
const longestPattern = 10_000;

/**
 * Returns every matching line of every text file, ordered by path and line.
 * @throws HoldfastError `invalid_pattern`.
 */
export async function grepFiles(files: ThreadFiles, pattern: string): Promise<GrepResult[]> {
	const matches = compile(pattern);
	const results: GrepResult[] = [];
	for (const { path } of await files.files()) {
		try {
			for await (const { lineNumber, line } of linesOf(files.pieces(path)))
				if (matches(line)) results.push({ path, lineNumber, line });
		} catch (error) {
			// A file that was removed in the meantime has no lines.
			const { code } = isHoldfastError(error) ? error : { code: "" };
			if (code !== "file_not_found" && code !== "file_changed") throw error;
		}
	}
	return results;
}

function compile(pattern: string): (text: string) => boolean {
	if (typeof pattern !== "string" || pattern.length > longestPattern)
		throw invalidPattern(`A pattern must be a string of at most ${longestPattern} characters.`);
	if (!/[\\^$.*+?()[\]{}|]/.test(pattern)) return (text) => text.includes(pattern);
	try {
		const compiled = RE2JS.compile(pattern);
		return (text) => compiled.test(text);
	} catch (cause) {
		const why = messageOf(cause);
		throw invalidPattern(
			`The pattern ${JSON.stringify(cutText(pattern, 200))} is invalid: ${why}. Use RE2 syntax.`,
			cause,
		);
	}
}

interface Line {
	readonly lineNumber: number;
	readonly line: string;
}

/** Yields the lines of a text file; none for a binary file. */
async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Line, void, void> {
	const decoder = new TextDecoder();
	let rest = "";
	let lineNumber = 1;
	let isFirst = true;
	for await (const piece of pieces) {
		if (isFirst && piece.subarray(0, sniffed).includes(0)) return;
		isFirst = false;
		// A host in memory never waits, so other work gets its turn here.
		await new Promise<void>((resolve) => systemPorts.eventLoop.nextTurn(resolve));
		const text = rest + decoder.decode(piece, { stream: true });
		let from = 0;
		for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
			yield { lineNumber: lineNumber++, line: text.slice(from, text[end - 1] === "\r" ? end - 1 : end) };
			from = end + 1;
		}
		while (text.length - from > longestLine) {
			const line = cutText(text.slice(from, from + longestLine + 1), longestLine);
			yield { lineNumber, line };
			from += line.length;
		}
		rest = text.slice(from);
	}
	rest += decoder.decode();
	if (rest !== "") yield { lineNumber, line: rest };
}
