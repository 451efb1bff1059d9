// Finds words in the content of an entry. Credentials are masked before the words are looked for, so that a search
// cannot guess them.
import { cutText } from "@holdfast/upp";
import { type Entry, encodeFact, type FactKind } from "holdfast/host";

/** The members of each kind of fact that contain text of people, models and tools. */
const searched: Readonly<Record<FactKind, readonly string[]>> = {
	"run.started": ["agentName"],
	"run.resumed": ["partial"],
	"run.parked": [],
	input: ["message"],
	assistant: ["message"],
	"tools.requested": ["calls"],
	"tool.started": ["name", "input"],
	"tool.settled": ["result", "details"],
	decision: ["answer"],
	note: ["value"],
	waiting: [],
	"tools.pending": [],
	"wait.ended": [],
	"message.added": ["message"],
	"message.updated": ["message"],
	"message.deleted": [],
	"history.cut": [],
	"run.ended": ["error", "partial"],
	folded: ["state"],
};

/** Members without text: ids, types, times and encoded bytes. */
const skipped: ReadonlySet<string> = new Set([
	...["id", "type", "timestamp", "toolCallId", "inputId", "data", "signature"],
]);
/** Characters of the excerpt before the first word, and of all of it. */
const before = 40;
const excerptCharacters = 160;
const deepest = 40;

/** Returns the words of a query in lower case, at most ten. */
export function wordsOf(query: string): readonly string[] {
	return query
		.toLowerCase()
		.split(/\s+/)
		.filter((word) => word !== "")
		.slice(0, 10);
}

/** What a search found in an entry. `size`: the characters that were read. */
export interface SearchedEntry {
	readonly size: number;
	/** The text around the first word; absent if the entry does not contain all words. */
	readonly excerpt?: string;
}

/** Finds an entry's text with all of the words, which are in lower case. */
export function searchEntry(
	{ fact }: Entry,
	words: readonly string[],
	mask: <Value>(value: Value) => Value,
): SearchedEntry {
	const { body } = encodeFact(fact);
	const size = body.length;
	const encoded = body.toLowerCase();
	// Most entries do not contain the words in any form, and are not parsed.
	if (!words.every((word) => encoded.includes(JSON.stringify(word).slice(1, -1)))) return { size };
	const given = mask(JSON.parse(body)) as Readonly<Record<string, unknown>>;
	const texts: string[] = [];
	for (const member of searched[fact.kind]) collect(given[member], texts);
	const text = texts.join("\n");
	const lower = text.toLowerCase();
	if (!words.every((word) => lower.includes(word))) return { size };
	const begin = Math.max(0, lower.indexOf(words[0] ?? "") - before);
	// A cut must not begin with the second half of a character.
	const from = /[\uDC00-\uDFFF]/.test(text.charAt(begin)) ? begin + 1 : begin;
	const excerpt = cutText(text.slice(from), excerptCharacters).replaceAll(/\s+/g, " ").trim();
	const isEnd = text.length - from <= excerptCharacters;
	return { size, excerpt: `${from > 0 ? "…" : ""}${excerpt}${isEnd ? "" : "…"}` };
}

function collect(value: unknown, texts: string[], depth = 0): void {
	if (typeof value === "string") texts.push(value);
	if (typeof value === "number" || typeof value === "boolean") texts.push(String(value));
	if (typeof value !== "object" || value === null || depth > deepest) return;
	for (const [name, each] of Object.entries(value))
		if (!skipped.has(name) || Array.isArray(value)) collect(each, texts, depth + 1);
}
