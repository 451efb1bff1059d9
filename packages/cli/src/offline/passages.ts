/** Ranks chunks for one question, by an index of the words in them. */
import MiniSearch from "minisearch";
import { stemmer } from "stemmer";
import { type Chunk, kindOf } from "./chunks.ts";
import { depthOf, OF_VERSIONS, type Question, tokensOf, type Word } from "./question.ts";

/** A chunk that matches. */
export interface Passage {
	readonly chunk: Chunk;
	readonly score: number;
	/** Share of the question's weight that the chunk contains, from 0 to 1; rare words weigh more. */
	readonly coverage: number;
	/** Whether it contains all names and versions in the question. */
	readonly hasNames: boolean;
}

/**
 * The minimum share of the weight in an answer, and in one that contains all names; and how far below the best it may
 * score.
 */
const ENOUGH = 0.6;
const ENOUGH_WITH_NAMES = 0.4;
const NEAR_BEST = 0.4;
/** Tests, examples and build output, which are less relevant than the thing itself. */
const ASIDE =
	/(?:^|\/)(?:tests?|__tests__|spec|fixtures?|examples?|dist|build|vendor|generated|bench(?:marks)?)\/|\.(?:test|spec|fixture|min)\.|\.d\.[cm]?ts$/i;

/** The introduction and the guides, which are written to answer questions. */
const GUIDES =
	/^readme[^/]*$|(?:^|\/)(?:docs?|guides?|documentation)\/(?!.*\badrs?\/).*\.(?:mdx?|rst|adoc)$/i;
const CHANGELOG = /(?:^|\/)(?:changelog|changes|history|news|releases?)(?:\.[^/]*)?$/i;
/** Lists of names, which contain each word and explain none. */
const LISTS = /(?:^|\/)(?:names|errors|requirements|glossary|index)\.mdx?$|\.(?:txt|[ct]sv|lock)$/i;

/** Whether a file lists what changed. */
export function isChangelog(path: string): boolean {
	return CHANGELOG.test(path);
}

/** How likely a file explains what it contains, relative to others. */
function weightOf(path: string, { codeWeight, asksForChanges, places, words }: Question): number {
	const kind = kindOf(path) === "code" ? codeWeight : 1;
	const aside = ASIDE.test(path) ? 0.5 : 1;
	const isNamed = places.some((place) => path.startsWith(place));
	const list = isNamed || !LISTS.test(path) ? 1 : 0.4;
	const changelog = isNamed || asksForChanges || !isChangelog(path) ? 1 : 0.2;
	const depth = GUIDES.test(path) ? 1.2 : 0.9 ** depthOf(path);
	const about = tokensOf(path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "")).flatMap(termsOf);
	const isAbout = words.some(({ text }) => about.includes(termOf(text))) && GUIDES.test(path) ? 1.6 : 1;
	return kind * aside * list * changelog * depth * isAbout;
}

/** Returns a word in its indexed form: lower case, without its ending. */
export function termOf(word: string): string {
	const lower = word.toLowerCase();
	return /^[a-z]{4,40}$/.test(lower) ? stemmer(lower) : lower;
}

/** Returns all terms of a text: every word and the parts of names. "createSession" is also create and Session. */
export function termsOf(text: string): string[] {
	return tokensOf(text).flatMap((token) => {
		const parts = token.split(/[^\p{L}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
		const own = parts.filter((part) => part !== "" && part !== token);
		return [token, ...own].map(termOf);
	});
}

/**
 * Returns the chunks that contain some of the words, best first. For words in `misspelt`, similar words count as well.
 */
export function rankChunks(chunks: readonly Chunk[], question: Question, misspelt: Word[]): Passage[] {
	const index = new MiniSearch<Record<string, string | number>>({
		fields: ["names", "text", "context", "path"],
		tokenize: termsOf,
		processTerm: (term) => term,
	});
	index.addAll(
		chunks.map(({ names, lines, context, section, path }, id) => {
			const around = `${(section?.trail ?? "").slice(-120)} ${context.slice(-300)}`;
			return { id, names, text: lines.join("\n"), context: around, path };
		}),
	);
	const words = question.words.map((word) => ({ ...word, term: termOf(word.text) }));
	const unsure = new Set(misspelt.map(({ text }) => termOf(text)));
	const results = index.search(words.map(({ term }) => term).join("\n"), {
		tokenize: (query) => query.split("\n"),
		boost: { names: question.codeWeight === 1 ? 8 : 3, text: 2, context: 1.5, path: 2 },
		prefix: (term) => term.length > 3,
		fuzzy: (term) => (unsure.has(term) ? 0.25 : false),
		boostDocument: (id) => weightOf((chunks[id] as Chunk).path, question),
	});
	const weights = new Map(
		words.map(({ term, text }) => {
			const count = results.filter(({ queryTerms }) => queryTerms.includes(term)).length;
			const rarity = Math.log(1 + (chunks.length + 1) / (count + 0.5));
			return [term, OF_VERSIONS.test(text) ? rarity / 2 : rarity];
		}),
	);
	const sum = (terms: string[]): number => terms.reduce((total, term) => total + (weights.get(term) ?? 0), 0);
	return results
		.flatMap(({ id, score, queryTerms, match }): Passage[] => {
			const chunk = chunks[id] as Chunk;
			// A matching path counts only for the beginning of its file.
			if (chunk.line > 1 && Object.values(match).every((fields) => fields.join() === "path")) return [];
			const found = words.filter(({ term }) => queryTerms.includes(term));
			const coverage = sum(found.map(({ term }) => term)) / sum(words.map(({ term }) => term));
			const hasNames = words.every((word) => word.kind === "word" || found.includes(word));
			return [{ chunk, score: score * coverage, coverage, hasNames }];
		})
		.sort((left, right) => right.score - left.score || left.chunk.line - right.chunk.line);
}

/** Selects the passages that contain enough of the question to answer it. */
export function answersAmong(passages: readonly Passage[], { words }: Question): Passage[] {
	const enough = words.some(({ kind }) => kind === "name") ? ENOUGH_WITH_NAMES : ENOUGH;
	const best = passages.reduce((most, { coverage }) => Math.max(most, coverage), 0);
	const least = Math.max(enough, best - NEAR_BEST);
	return passages.filter(({ coverage, hasNames }) => coverage >= least && hasNames);
}
