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
/** How many parameters are searched, including nested ones. */
const mostParameters = 200;

/** What a related word counts, compared with a word of the query. */
const relatedWeight = 0.3;

/** Searches a list of tools. */
export class ToolIndex {
	readonly #tools: readonly FoundTool[];
	readonly #search: MiniSearch;

	constructor(tools: readonly FoundTool[]) {
		this.#tools = tools;
		this.#search = new MiniSearch({
			fields: ["name", "description", "parameters"],
			tokenize: wordsOf,
			processTerm: (word) => (stopWords.has(word) ? null : stemOf(word)),
			searchOptions: {
				boost: { name: 3, description: 1.5, parameters: 0.5 },
				combineWith: "OR",
				weights: { fuzzy: 0.2, prefix: 0.4 },
			},
		});
		this.#search.addAll(
			tools.map(({ name, description, parameters }, id) => ({
				id,
				name,
				description: description.slice(0, mostText),
				parameters: parametersOf(parameters).join(" "),
			})),
		);
	}

	/** Returns the tools that match best, the best one first. */
	search(query: string, limit: number): readonly FoundTool[] {
		const exact = this.#tools.filter(({ name }) => name === query.trim());
		const text = query.slice(0, mostText);
		const related = relatedTo(wordsOf(text), stemOf);
		const lesser = new Set(related.map(stemOf));
		const ranked = this.#search
			.search([text, ...related].join(" "), {
				boostTerm: (term) => (lesser.has(term) ? relatedWeight : 1),
				prefix: (word) => word.length > 3 && !lesser.has(word),
				fuzzy: (word) => (word.length > 4 && !lesser.has(word) ? 0.2 : false),
			})
			.map(({ id }) => this.#tools[id as number] as FoundTool);
		return [...new Set([...exact, ...ranked])].slice(0, limit);
	}
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
