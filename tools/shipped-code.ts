// How bundled code is written when it is shipped: readable, small and fast to load. The comment at the beginning of each
// module names its file within the package. Short expressions are on one line. All characters are ASCII: V8 reads such
// files directly, and needs half the memory for them.
import { parseAst } from "rolldown/parseAst";

/** The used part of a node of the syntax tree. */
interface Node {
	readonly type: string;
	readonly start: number;
	readonly end: number;
}

/** Characters of the code, and what is written instead. */
interface Edit {
	readonly start: number;
	readonly end: number;
	readonly text: string;
}

/** The most columns of a joined line. A tab counts as four. */
const width = 120;
const joinable = /^(?:(?:Object|Array)(?:Expression|Pattern)|(?:Call|New)Expression)$/;
const holdsStatements = /^(?:BlockStatement|ClassBody)$/;

/** Returns bundled code in the shipped form, with the `mappings` of its source map. */
export function shippedCode(
	code: string,
	mappings: string,
): { readonly code: string; readonly mappings: string } {
	const edits = [...shorterPaths(code), ...joinedLines(code), ...escapes(code)].sort(
		(one, other) => one.start - other.start,
	);
	let written = "";
	let at = 0;
	for (const { start, end, text } of edits) {
		written += code.slice(at, start) + text;
		at = end;
	}
	written += code.slice(at);
	return { code: written, mappings: moved(mappings, code, written, edits) };
}

/** Shortens comments such as `// packages/core/src/facts/codec.ts`. */
function shorterPaths(code: string): readonly Edit[] {
	return [...code.matchAll(/(?<=^\/\/ )packages\/[^/\n]+\/(?=src\/\S+$)/gm)].map(({ index, 0: path }) => ({
		start: index,
		end: index + path.length,
		text: "",
	}));
}

function escapes(code: string): readonly Edit[] {
	return [...code.matchAll(/[^\0-\x7f]/g)].map(({ index, 0: character }) => ({
		start: index,
		end: index + 1,
		text: `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
	}));
}

/** Replaces the line breaks, and the indentation after each, within expressions that fit on one line. */
function joinedLines(code: string): readonly Edit[] {
	const found: Edit[] = [];
	const visit = (node: unknown): void => {
		if (Array.isArray(node)) for (const each of node) visit(each);
		if (typeof node !== "object" || node === null || !("type" in node)) return;
		const { start, end, ...members } = node as Node;
		if (joinable.test(members.type) && fitsOnOneLine(code, node as Node)) {
			for (const { index, 0: lineBreak } of code.slice(start, end).matchAll(/\n\t*/g))
				found.push({ start: start + index, end: start + index + lineBreak.length, text: " " });
			return;
		}
		for (const member of Object.values(members)) visit(member);
	};
	visit(parseAst(code).body);
	return found;
}

function fitsOnOneLine(code: string, node: Node): boolean {
	const own = code.slice(node.start, node.end);
	// Templates may contain line breaks, and comments end with one.
	if (!own.includes("\n") || /`|\/\//.test(own) || containsStatements(node)) return false;
	const before = code.slice(code.lastIndexOf("\n", node.start) + 1, node.start).replaceAll("\t", "    ");
	const after = code.slice(node.end, code.indexOf("\n", node.end));
	return before.length + own.replace(/\n\t*/g, " ").length + after.length <= width;
}

function containsStatements(node: unknown): boolean {
	if (Array.isArray(node)) return node.some(containsStatements);
	if (typeof node !== "object" || node === null) return false;
	if ("type" in node && holdsStatements.test(String(node.type))) return true;
	return Object.values(node).some(containsStatements);
}

/**
 * Moves the mappings of a source map with the code. Each segment begins with its distance to the previous one on its line;
 * what follows in it is relative to the previous segment of the file, and stays.
 */
function moved(mappings: string, code: string, written: string, edits: readonly Edit[]): string {
	const lines = written.split("\n");
	let result = "";
	let lineStart = 0; // in the code
	let edit = 0; // the first edit that does not end before the segment
	let shift = 0; // of everything after the edits before it
	let line = 0; // of what is written
	let writtenStart = 0; // of that line
	let column = 0; // of the last segment on it
	for (const segments of mappings.split(";")) {
		let at = lineStart;
		for (const segment of segments === "" ? [] : segments.split(",")) {
			const [distance, rest] = readNumber(segment);
			at += distance;
			for (let next = edits[edit]; next !== undefined && next.end <= at; next = edits[++edit])
				shift += next.text.length - (next.end - next.start);
			const to = Math.min(at, edits[edit]?.start ?? at) + shift;
			const lineBefore = line;
			for (
				let length = lines[line]?.length ?? 0;
				to > writtenStart + length;
				length = lines[line]?.length ?? 0
			) {
				writtenStart += length + 1;
				line++;
			}
			if (line > lineBefore) column = 0;
			else if (result !== "") result += ",";
			result += ";".repeat(line - lineBefore) + writeNumber(to - writtenStart - column) + rest;
			column = to - writtenStart;
		}
		lineStart = code.indexOf("\n", lineStart) + 1;
	}
	return result;
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Reads the first number of a segment: groups of five bits, the lowest first; the lowest bit of all is the sign. */
function readNumber(segment: string): readonly [value: number, rest: string] {
	let bits = 0;
	for (let at = 0; ; at++) {
		const digit = digits.indexOf(segment[at] as string);
		bits |= (digit & 31) << (5 * at);
		if (digit < 32) return [bits & 1 ? -(bits >> 1) : bits >> 1, segment.slice(at + 1)];
	}
}

function writeNumber(value: number): string {
	let bits = value < 0 ? (-value << 1) | 1 : value << 1;
	let text = "";
	for (; bits > 31; bits >>>= 5) text += digits[(bits & 31) | 32];
	return text + digits[bits];
}
