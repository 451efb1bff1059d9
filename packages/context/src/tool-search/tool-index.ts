// An index of tools by their names, descriptions and parameters, ranked by BM25. Building it takes time proportional to
// the text; it is built with the first search.
import MiniSearch from "minisearch";
import { relatedTo } from "./related-words.ts";

/** The parts of a tool that are searched. */
export interface FoundTool {
	readonly name: string;
	readonly description: string;
	readonly parameters: unknown;
}

/** Words that nearly every description contains, or that a request begins with. */
const stopWords: ReadonlySet<string> = new Set(
	"a an and any are as at be by can do for from how i if in into is it its me my of on or our please so some that the then there this to tool up use used using want we what when which who will with you your need".split(
		" ",
	),
);

/** The longest text of one description that is searched, in characters. */
const mostText = 4_000;
/** The longest first sentence, in characters. */
const mostSummary = 200;
/** How many parameters are searched, including nested ones. */
const mostParameters = 200;

/** How many words of a query are searched. */
const mostWords = 20;

/** What a related word counts, compared with a word of the query. */
const relatedWeight = 0.7;

/** How much of a word of the query a tool has, if it has the word itself, a related one, or one that begins or sounds alike. */
const shares = { same: 1, related: 0.6, alike: 0.5 };

/** What a tool has of one word of a query. */
interface Hit {
	readonly score: number;
	readonly share: number;
}

/** Searches a list of tools. */
export class ToolIndex {
	readonly #tools: readonly FoundTool[];
	readonly #search: MiniSearch;

	constructor(tools: readonly FoundTool[]) {
		this.#tools = tools;
		this.#search = new MiniSearch({
			fields: ["name", "summary", "details", "parameters"],
			tokenize: wordsOf,
			processTerm: (word) => (stopWords.has(word) ? null : stemOf(word)),
			searchOptions: {
				boost: { name: 2.5, summary: 2, details: 0.5, parameters: 0.4 },
				weights: { fuzzy: 0.15, prefix: 0.3 },
			},
		});
		this.#search.addAll(
			tools.map(({ name, description, parameters }, id) => {
				const end = summaryEnd(description);
				return {
					id,
					name,
					summary: description.slice(0, end),
					details: description.slice(end, mostText),
					parameters: parametersOf(parameters).join(" "),
				};
			}),
		);
	}

	/** Returns the tools that match best, the best one first. A tool counts less for each word that it lacks. */
	search(query: string, limit: number): readonly FoundTool[] {
		const exact = this.#tools.filter(({ name }) => name === query.trim());
		const words = searchedWords(query.slice(0, mostText));
		const found = new Map<number, Hit>();
		for (const word of words)
			for (const [id, { score, share }] of this.#hitsOf(word)) {
				const sum = found.get(id) ?? { score: 0, share: 0 };
				found.set(id, { score: sum.score + score, share: sum.share + share });
			}
		const ranked = [...found]
			.map(([id, { score, share }]) => ({ id, score: score * share }))
			.sort((one, other) => other.score - one.score || one.id - other.id)
			.map(({ id }) => this.#tools[id] as FoundTool);
		return [...new Set([...exact, ...ranked])].slice(0, limit);
	}

	/** Returns what each tool has of a word: the best of the word itself and those that are related to it. */
	#hitsOf(word: string): ReadonlyMap<number, Hit> {
		const hits = new Map<number, Hit>();
		const stem = stemOf(word);
		const alike = { prefix: word.length > 3, fuzzy: word.length > 5 ? 0.2 : false };
		for (const { id, score, terms } of this.#search.search(word, alike))
			hits.set(id as number, { score, share: terms.includes(stem) ? shares.same : shares.alike });
		for (const other of relatedTo(word, stemOf))
			for (const { id, score: whole } of this.#search.search(other)) {
				const score = whole * relatedWeight;
				if (score > (hits.get(id as number)?.score ?? 0))
					hits.set(id as number, { score, share: shares.related });
			}
		return hits;
	}
}

/** Returns the end of the first sentence, which says what a tool does. Long descriptions continue with advice. */
function summaryEnd(description: string): number {
	const beginning = description.slice(0, mostSummary);
	const end = beginning.search(/[.!?](?:\s|$)|\n/);
	return end < 0 ? beginning.length : end + 1;
}

/** Returns the words of a query that are searched, without words of the same stem. */
function searchedWords(text: string): readonly string[] {
	const words = wordsOf(text).filter((word) => !stopWords.has(word));
	return [...new Map(words.map((word) => [stemOf(word), word])).values()].slice(0, mostWords);
}

/** Returns the words of a text; `createPullRequest` and `create_pull_request` have the same. */
function wordsOf(text: string): string[] {
	const spaced = text.replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
	return spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Returns an English word without its most common endings, so that `issues` finds `issue` and `sending` finds `send`. */
function stemOf(word: string): string {
	if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
	if (word.length > 5 && word.endsWith("ing")) return withoutDouble(word.slice(0, -3));
	if (word.length > 4 && word.endsWith("ed")) return withoutDouble(word.slice(0, -2));
	if (word.length > 4 && /(?:s|x|z|ch|sh)es$/.test(word)) return withoutE(word.slice(0, -2));
	if (word.length > 3 && word.endsWith("s") && !word.endsWith("ss")) return withoutE(word.slice(0, -1));
	return withoutE(word);
}

function withoutE(word: string): string {
	return word.length > 4 && word.endsWith("e") ? word.slice(0, -1) : word;
}

function withoutDouble(word: string): string {
	return /([bdgmnprt])\1$/.test(word) ? word.slice(0, -1) : word;
}

/** Returns the names and descriptions of parameters, including nested ones. */
function parametersOf(schema: unknown): readonly string[] {
	const texts: string[] = [];
	const open: unknown[] = [schema];
	const seen = new Set<unknown>();
	for (let at = 0; at < open.length && seen.size < mostParameters; at++) {
		const node = open[at];
		if (typeof node !== "object" || node === null || seen.has(node)) continue;
		seen.add(node);
		const { description, properties, items, anyOf, oneOf, allOf } = node as Record<string, unknown>;
		if (at > 0 && typeof description === "string") texts.push(description.slice(0, mostText));
		if (typeof properties === "object" && properties !== null) {
			texts.push(...Object.keys(properties).slice(0, mostParameters));
			open.push(...Object.values(properties).slice(0, mostParameters));
		}
		for (const more of [items, anyOf, oneOf, allOf]) open.push(...(Array.isArray(more) ? more : [more]));
	}
	return texts;
}
