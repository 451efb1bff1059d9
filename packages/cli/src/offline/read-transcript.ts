/**
 * Reads the conversation: the question, the calls made for it, and the results of the tools. The offline model keeps no
 * state between calls, so a run resumes after a crash as if nothing had happened.
 */
import type { AnyMessage, Message } from "@holdfast/upp";

/** Lines of a file by index from 0, undefined if they are unknown. */
export type FileLines = (string | undefined)[];

type Texts = Map<string, FileLines>;

/** All that is known about the question so far. */
export interface Transcript {
	readonly question: string;
	/** Text after the question, such as piped input: `cat error.log | holdfast run "what is wrong?"`. */
	readonly pasted: string | undefined;
	/** How often the user asked for more of the same answer. */
	readonly page: number;
	/** Sizes by path, in the order of the listing: "1,234 bytes". */
	readonly files: ReadonlyMap<string, string>;
	/** Number of matching files by pattern. */
	readonly searches: ReadonlyMap<string, number>;
	/** The lines found by searches, and those of the files that were read. */
	readonly hits: Readonly<Texts>;
	readonly texts: Readonly<Texts>;
	/** Calls made for this question, as JSON, and the number of rounds. */
	readonly calls: ReadonlySet<string>;
	readonly rounds: number;
	/** Omissions reported by the tools, and reasons of failed calls. */
	readonly remarks: ReadonlySet<string>;
}

/** Maximum number of characters of a question that are read; text pasted after it is ignored. */
const LONGEST_QUESTION = 2_000;

/** Reads the part of the conversation after the user's last message. */
export function readTranscript(messages: readonly Message[]): Transcript {
	const asked = messages.filter(({ type }) => type === "user").map(({ text }) => text);
	let last = asked.length - 1;
	while (last > 0 && /^\W*(?:show\s+)?more\W*$/i.test(asked[last] as string)) last--;
	const { question, pasted } = splitQuestion(asked[last] ?? "");
	const calls = new Map<string, { name: string; params: Record<string, unknown> }>();
	const files = new Map<string, string>();
	const searches = new Map<string, number>();
	const hits: Texts = new Map();
	const texts: Texts = new Map();
	const remarks = new Set<string>();
	if (question.length > LONGEST_QUESTION) remarks.add("Only the beginning of the question was read.");
	let rounds = 0;
	const start = messages.findLastIndex(({ type }) => type === "user");
	for (const message of messages.slice(start + 1) as AnyMessage[]) {
		if (message.type === "assistant") {
			rounds++;
			for (const call of message.toolCalls ?? [])
				calls.set(call.toolCallId, { name: call.toolName, params: call.arguments });
		}
		if (message.type !== "tool_result") continue;
		for (const { toolCallId, result, isError } of message.results) {
			const call = calls.get(toolCallId);
			const [head = "", ...lines] = String(result).split("\n");
			if (isError === true) remarks.add(String(result));
			else if (call?.name === "read_file") readPage(head, lines, texts);
			else if (call !== undefined) {
				// Omissions are listed in brackets after the counts.
				const notes = (/\((.*)\)/.exec(head)?.[1] ?? "").split("; ");
				const limits = notes.filter((note) => !/ searched$|binary files? left out$|^$/.test(note));
				if (limits.length > 0) remarks.add(`${call.name}: ${limits.join("; ")}.`);
				if (call.name === "search_text")
					searches.set(String(call.params.pattern), readSearch(head, lines, hits, remarks));
				else for (const line of lines) files.set(...(line.split("\t") as [string, string]));
			}
		}
	}
	const made = new Set([...calls.values()].map((call) => JSON.stringify(call)));
	const page = asked.length - 1 - last;
	const text = question.slice(0, LONGEST_QUESTION);
	return { question: text, pasted, page, files, searches, hits, texts, calls: made, rounds, remarks };
}

/** Splits a message into the question and the text that it is about: several lines after a short first paragraph. */
function splitQuestion(message: string): Pick<Transcript, "question" | "pasted"> {
	const [, question = "", pasted = ""] = /^([^\n]{1,300})\n\n([\s\S]+)$/.exec(message) ?? [];
	return question === "" || pasted.trim() === ""
		? { question: message, pasted: undefined }
		: { question, pasted };
}

/** Stores the lines that a search found; returns how many files match. */
function readSearch(head: string, lines: string[], hits: Texts, remarks: Set<string>): number {
	let path = "";
	let shown = 0;
	for (const line of lines) {
		path = /^(.+): [\d,]+ matching lines?(?:, first [\d,]+ shown)?$/.exec(line)?.[1] ?? path;
		const hit = line.startsWith(`${path}:`) ? /^(\d+): (.*)$/.exec(line.slice(path.length + 1)) : null;
		if (hit === null) continue;
		const known = hits.get(path) ?? [];
		known[Number(hit[1]) - 1] = hit[2];
		hits.set(path, known);
		shown++;
	}
	const [, all, files] = /^([\d,]+) matching lines? in ([\d,]+)/.exec(head) ?? [];
	if (shown < number(all)) remarks.add(`Searches showed only the first ${shown} matching lines of a word.`);
	return number(files);
}

function readPage(head: string, lines: string[], texts: Texts): void {
	const [, path, total] = /^(.+): lines [\d,]+-[\d,]+ of ([\d,]+)/.exec(head) ?? [];
	if (path === undefined) return;
	const text = texts.get(path) ?? new Array<string | undefined>(number(total));
	texts.set(path, text);
	for (const line of lines) {
		const tab = line.indexOf("\t");
		text[Number(line.slice(0, tab)) - 1] = line.slice(tab + 1);
	}
}

/** Parses the number at the start of a text: "1,234 bytes". */
export function number(text = "0"): number {
	return Number.parseInt(text.replaceAll(",", ""), 10);
}
