// The search of the site: one index of sections, in which a page is also found by the words of tools/site/keywords.ts.
// VitePress sends the functions here to the browser as text, so they use nothing outside themselves.
import { keywords } from "./keywords.ts";

/** Ignores words without meaning, and normalises plurals, on every page. */
function processTerm(term: string): string | null {
	const word = term.toLowerCase().replace(/^['’]|['’]s?$/g, "");
	if (
		/^(?:a|an|the|in|of|to|for|and|or|is|with|how|do|does|i|my|on|from|can|what|it|be|are|use|using)$/.test(
			word,
		)
	)
		return null;
	return word.length > 3 && /[^su]s$/.test(word) ? word.slice(0, -1) : word;
}

/** Fuzzy matching applies only to words long enough for a typo. */
function fuzzy(term: string): number | false {
	return term.length > 5 ? 0.15 : false;
}

/** Ranks guides and recipes before the reference, and lists of changes and decisions last. */
function boostDocument(id: string): number {
	if (/\/cookbook\/(?:#|$|index)/.test(id)) return 0.5;
	if (/\/(?:cookbook|guide)\//.test(id)) return id.includes("#") ? 1.3 : 1.6;
	if (/\/(?:changelog|contributing|adr\/)/.test(id)) return 0.3;
	if (/\/(?:api|packages|examples)\//.test(id)) return 0.7;
	return 1;
}

interface Section {
	readonly id: string;
	readonly [field: string]: unknown;
}

/** The keywords of a page belong to its first section. */
function extractField(section: Section, field: string): unknown {
	if (field !== "keywords") return section[field];
	if ((section.titles as readonly string[]).length > 0) return "";
	const [page = ""] = section.id.split("#");
	const path = page.slice((process.env.DOCS_BASE ?? "/").length).replace(/\.html$/, "");
	return keywords.get(path === "" || path.endsWith("/") ? `${path}index` : path) ?? "";
}

/** Options of MiniSearch for the index, which is created here, and for the browser. */
export const indexOptions = {
	fields: ["title", "titles", "text", "keywords"],
	storeFields: ["title", "titles"],
	processTerm,
	extractField,
};

/** Options of MiniSearch for a query. */
export const searchOptions = {
	prefix: true,
	fuzzy,
	boost: { title: 4, keywords: 6, titles: 1, text: 0.7 },
	boostDocument,
};
