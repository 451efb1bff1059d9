/**
 * Reads the conversation back: the task, the calls made for it, and what the tools answered. The offline
 * model keeps nothing between two calls, so a run goes on after a crash as if nothing had happened.
 */
import type { AnyMessage, Message } from "@holdfast/upp";

/** A file as `list_files` told it. */
export interface ListedFile {
	readonly path: string;
	/** Bytes. */
	readonly size: number;
}

/** What one search told. */
export interface SearchResult {
	readonly pattern: string;
	readonly path: string | undefined;
	/** Matching lines in all. */
	readonly total: number;
	/** Matching lines by file, the shown and the hidden. */
	readonly files: ReadonlyMap<string, number>;
	/** Line numbers shown, by file. */
	readonly shown: ReadonlyMap<string, readonly number[]>;
	readonly searched: number;
	/** Files that were left out for their size. */
	readonly tooLarge: number;
}

/** What was read of one file. */
export interface ReadText {
	readonly path: string;
	/** By index from 0; undefined where it was not read. */
	readonly lines: (string | undefined)[];
	readonly total: number;
}

/** All that is known about the task so far. */
export interface Transcript {
	readonly task: string;
	readonly files: readonly ListedFile[] | undefined;
	readonly searches: readonly SearchResult[];
	readonly texts: ReadonlyMap<string, ReadText>;
	/** Calls made for this task, as `name` and arguments. */
	readonly calls: readonly { readonly name: string; readonly params: Record<string, unknown> }[];
	/** Answers of the model so far that asked for tools. */
	readonly rounds: number;
	/** Answers of failed calls. */
	readonly failures: readonly string[];
}

/** Characters of a task that are read as the question; what is pasted behind them is none. */
const LONGEST_QUESTION = 2_000;

/** Reads the part of the conversation that follows the last message of the user. */
export function readTranscript(messages: readonly Message[]): Transcript {
	let start = messages.length - 1;
	while (start > 0 && messages[start]?.type !== "user") start--;
	const task = (messages[start]?.text ?? "").slice(0, LONGEST_QUESTION);
	const calls: { id: string; name: string; params: Record<string, unknown> }[] = [];
	const searches: SearchResult[] = [];
	const texts = new Map<string, ReadText>();
	const failures: string[] = [];
	let files: ListedFile[] | undefined;
	let rounds = 0;
	for (const message of messages.slice(start + 1) as AnyMessage[]) {
		if (message.type === "assistant") {
			const toolCalls = message.toolCalls ?? [];
			if (toolCalls.length > 0) rounds++;
			for (const call of toolCalls)
				calls.push({ id: call.toolCallId, name: call.toolName, params: call.arguments });
		} else if (message.type === "tool_result") {
			for (const { toolCallId, result, isError } of message.results) {
				const call = calls.find(({ id }) => id === toolCallId);
				const text = typeof result === "string" ? result : JSON.stringify(result);
				if (!call) continue;
				if (isError === true) failures.push(text);
				else if (call.name === "list_files") files = readListing(text);
				else if (call.name === "search_text") searches.push(readSearch(call.params, text));
				else if (call.name === "read_file") readPage(texts, text);
			}
		}
	}
	return {
		task,
		files,
		searches,
		texts,
		calls: calls.map(({ name, params }) => ({ name, params })),
		rounds,
		failures,
	};
}

function readListing(text: string): ListedFile[] {
	return text.split("\n").flatMap((line) => {
		const match = /^(.+)\t([\d,]+) bytes$/.exec(line);
		return match ? [{ path: match[1] as string, size: number(match[2] as string) }] : [];
	});
}

function readSearch(params: Record<string, unknown>, text: string): SearchResult {
	const [head = "", ...rest] = text.split("\n");
	const files = new Map<string, number>();
	const shown = new Map<string, number[]>();
	let current: string | undefined;
	for (const line of rest) {
		const title = /^(.+): ([\d,]+) matching lines?(?:, first [\d,]+ shown)?$/.exec(line);
		if (title) {
			current = title[1] as string;
			files.set(current, number(title[2] as string));
			shown.set(current, []);
		} else if (current !== undefined && line.startsWith(`${current}:`)) {
			const found = /^(\d+): /.exec(line.slice(current.length + 1));
			if (found) shown.get(current)?.push(Number(found[1]));
		} else if (line.startsWith("More matches, not shown, in: "))
			for (const match of line.slice(29).matchAll(/(?:^|, )(\S[^,]*?) \(([\d,]+)\)/g))
				files.set(match[1] as string, number(match[2] as string));
	}
	return {
		pattern: String(params.pattern),
		path: typeof params.path === "string" ? params.path : undefined,
		total: number(/^([\d,]+) matching/.exec(head)?.[1] ?? "0"),
		files,
		shown,
		searched: number(/\(([\d,]+) files? searched/.exec(head)?.[1] ?? "0"),
		tooLarge: number(/ ([\d,]+) files? too large/.exec(head)?.[1] ?? "0"),
	};
}

function readPage(texts: Map<string, ReadText>, text: string): void {
	const end = text.indexOf("\n");
	const head = /^(.+): lines ([\d,]+)-([\d,]+) of ([\d,]+)/.exec(end < 0 ? text : text.slice(0, end));
	if (!head) return;
	const path = head[1] as string;
	const total = number(head[4] as string);
	const known = texts.get(path) ?? {
		path,
		total,
		lines: new Array<string | undefined>(total).fill(undefined),
	};
	texts.set(path, known);
	for (const line of text.slice(end + 1).split("\n")) {
		const tab = line.indexOf("\t");
		const at = Number(line.slice(0, tab));
		if (tab > 0 && Number.isInteger(at)) known.lines[at - 1] = line.slice(tab + 1);
	}
}

function number(text: string): number {
	return Number(text.replaceAll(",", ""));
}
