/** Formats durations, times, amounts and tool calls. */
import { stripVTControlCharacters } from "node:util";

/** Formats milliseconds: "12 ms", "3.4 s", "2 min 5 s". */
export function formatDuration(milliseconds: number): string {
	if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
	if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
	const seconds = Math.round(milliseconds / 1_000);
	return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Formats a local time: "2026-11-20 05:17:03". */
export function formatTime(at: number): string {
	const date = new Date(at);
	const two = (value: number): string => String(value).padStart(2, "0");
	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Formats a number with thousands separators. */
export function formatCount(count: number): string {
	return count.toLocaleString("en-US");
}

/** Formats a count with its noun: "1 session", "1,204 sessions". */
export function counted(count: number, one: string, many = `${one}s`): string {
	return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Formats bytes: "812 bytes", "20 KB", "3.4 MB". */
export function formatBytes(bytes: number): string {
	if (bytes < 1_000) return `${bytes} bytes`;
	if (bytes < 1_000_000) return `${formatCount(Math.round(bytes / 1_000))} KB`;
	return `${(bytes / 1_000_000).toLocaleString("en-US", { maximumFractionDigits: 1 })} MB`;
}

/** Formats dollars with the significant digits. */
export function formatCost(dollars: number): string {
	return `$${dollars < 0.1 ? dollars.toFixed(4) : dollars.toFixed(2)}`;
}

/** Puts text on one line, without control codes, cut to a width. */
export function oneLine(text: string, width: number): string {
	const line = printable(text).replace(/\s+/g, " ").trim();
	return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}

/** Removes characters that could control a terminal from the text of models and files; keeps tabs and line ends. */
export function printable(text: string): string {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
	return stripVTControlCharacters(text).replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}

/** Makes every character visible: control characters, direction marks and the like. */
export function spelledOut(text: string): string {
	return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
		character === "\t" ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
	);
}

/**
 * Replaces each character that could control a terminal, or change the order of the text, by a visible one; keeps tabs and
 * line ends. Positions in the text stay the same.
 */
export function pictured(text: string): string {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced
	return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (character) => {
		const code = character.charCodeAt(0);
		return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
	});
}

/** Formats the arguments of a tool call: `path=src/a.ts from=1`. */
export function formatArguments(input: unknown): string {
	if (typeof input !== "object" || input === null) return input === undefined ? "" : JSON.stringify(input);
	return Object.entries(input)
		.map(
			([name, value]) =>
				`${name}=${typeof value === "string" && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value)}`,
		)
		.join(" ");
}

/** Quotes a word for the shell if necessary. */
export function quoted(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Summarises a result by its first line. */
export function summarise(result: unknown): string {
	const text = typeof result === "string" ? result : (JSON.stringify(result) ?? "");
	return (text.split("\n", 1)[0] ?? "").replace(/; call read_file with .*$/, "");
}

/** Creates a short readable key for a new session from the words of its task. */
export function sessionKeyFor(task: string, random: () => number = Math.random): string {
	const words = task
		.toLowerCase()
		.normalize("NFKD")
		.match(/[a-z\d]+/g);
	const distinct = (words ?? []).filter(
		(word) =>
			word.length > 2 && !/^(?:the|and|what|which|does|how|are|for|this|that|with|from|list)$/.test(word),
	);
	const suffix = Math.floor(random() * 36 ** 4)
		.toString(36)
		.padStart(4, "0");
	return [...distinct.slice(0, 3).map((word) => word.slice(0, 16)), suffix].join("-");
}
