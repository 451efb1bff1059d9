/** The parsed files of one task, and how well their blocks match the words of the question. */
import { parseCode } from "./code.ts";
import { parseData } from "./data.ts";
import { type Block, documentKind, headingPath, type SourceDocument } from "./document.ts";
import { parseProse } from "./prose.ts";
import type { Question, Term } from "./question.ts";
import type { Transcript } from "./transcript.ts";
import { stem, stemsOf, wordsOf } from "./words.ts";

/** A block with the stems that it and its surroundings hold. */
export interface Unit {
	readonly document: SourceDocument;
	readonly block: Block;
	readonly index: number;
	/** Stems of what it says itself. */
	readonly own: ReadonlySet<string>;
	/** Stems of what stands around it: headings, parents, the table's header. */
	readonly around: ReadonlySet<string>;
	/** Both as text in lower case, for names that must be found as written. */
	readonly ownText: string;
	readonly aroundText: string;
}

/** All that was read for a task. */
export interface Corpus {
	readonly documents: readonly SourceDocument[];
	readonly units: readonly Unit[];
	/** How much a term tells, by its rarity; weak words count a quarter. */
	weight(term: Term): number;
	/** Stems of a document's path. */
	place(document: SourceDocument): ReadonlySet<string>;
}

/** Parses all that was read. */
export function parseAll(transcript: Transcript): SourceDocument[] {
	return [...transcript.texts.values()].map((text) => parse(text.path, text.lines, text.total));
}

/** Counts how rare the question's words are in the documents. */
export function buildCorpus(documents: readonly SourceDocument[], question: Question): Corpus {
	const units = documents.flatMap(unitsOf);
	const places = new Map(documents.map((document) => [document, stemsOf(document.path)]));
	const rarities = question.terms.map((term) => {
		let count = 0;
		for (const unit of units) if (termIn(term, unit.own, unit.ownText) > 0) count++;
		return Math.log(1 + (units.length + 1) / (count + 0.5));
	});
	// However common a word is in the project, an answer without it is only half an answer.
	const floor = 0.6 * Math.max(0, ...rarities);
	const strong = question.terms.flatMap((term, index) =>
		term.weak ? [] : [Math.max(0.2, floor, rarities[index] as number)],
	);
	const least = Math.min(...strong);
	const weights = new Map(
		question.terms.map((term, index) => {
			const rarity = Math.max(0.2, floor, rarities[index] as number);
			return [term, term.weak ? 0.25 * Math.min(rarity, least) : rarity * (term.exact ? 1.4 : 1)];
		}),
	);
	return {
		documents,
		units,
		weight: (term) => weights.get(term) ?? 1,
		place: (document) => places.get(document) ?? new Set(),
	};
}

/** Names of the project itself: its `name` key and the first title of a text at the top. */
export function projectNames(documents: readonly SourceDocument[]): ReadonlySet<string> {
	const names = new Set<string>();
	for (const document of documents) {
		if (document.path.includes("/")) continue;
		const entry = document.blocks.find(
			(block) => block.kind === "entry" && block.depth <= 1 && block.label === "name",
		);
		const name = entry?.text
			.replace(/^name:?\s*(?:@[^/]+\/)?/, "")
			.replace(/["',]/g, "")
			.toLowerCase();
		if (name) names.add(name);
		const title = document.sections[0]?.title.trim().toLowerCase() ?? "";
		if (
			document.kind === "prose" &&
			document.sections[0]?.version === undefined &&
			title !== "" &&
			!title.includes(" ")
		)
			names.add(title.replace(/\.(?:js|py|rs|ts)$/, ""));
	}
	return names;
}

function parse(path: string, lines: readonly (string | undefined)[], total: number): SourceDocument {
	const kind = documentKind(path);
	if (kind === "data") return parseData(path, lines, total);
	return kind === "prose" ? parseProse(path, lines, total) : parseCode(path, lines, total);
}

function unitsOf(document: SourceDocument): Unit[] {
	const headings = new Map<number, { stems: Set<string>; text: string }>();
	const heading = (section: number): { stems: Set<string>; text: string } => {
		let known = headings.get(section);
		if (!known) {
			const text = headingPath(document, section)
				.map(({ title }) => title)
				.join(" ");
			known = { stems: stemsOf(text), text: text.toLowerCase() };
			headings.set(section, known);
		}
		return known;
	};
	return document.blocks.map((block, index) => {
		const above = heading(
			block.kind === "heading" ? (document.sections[block.section]?.parent ?? -1) : block.section,
		);
		const parents: string[] = [block.context];
		for (let up = block.parent; up >= 0; up = document.blocks[up]?.parent ?? -1) {
			const parent = document.blocks[up];
			if (parent) parents.push(parent.kind === "item" ? parent.text : parent.label);
			if (parents.length > 6) break;
		}
		const context = parents.join(" ").trim();
		const around = context === "" ? above.stems : new Set([...above.stems, ...stemsOf(context)]);
		return {
			document,
			block,
			index,
			own: stemsOf(`${block.text} ${block.label}`),
			around,
			ownText: `${block.text} ${block.label}`.toLowerCase(),
			aroundText: `${above.text} ${context.toLowerCase()}`,
		};
	});
}

/** 1 when the term is there, 0.85 when a word of the same meaning is, else 0. */
export function termIn(term: Term, stems: ReadonlySet<string>, text: string): number {
	if (term.exact) return nameIn(term.text, text) ? 1 : 0;
	if (term.stems.length > 0 && term.stems.every((stem) => stems.has(stem))) return 1;
	for (const synonym of term.synonyms) if (stems.has(synonym)) return 0.85;
	return 0;
}

/** Does the text (lower case) hold this name, not as a part of a longer one? */
export function nameIn(name: string, text: string): boolean {
	const wanted = name.toLowerCase();
	for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
		const before = text[at - 1] ?? " ";
		const after = text[at + wanted.length] ?? " ";
		// "2.6" is not in "2.6.1", nor in "1.2.6".
		if (/\d$/.test(wanted) && after === "." && /\d/.test(text[at + wanted.length + 1] ?? "")) continue;
		if (/^\d/.test(wanted) && before === "." && /\d/.test(text[at - 2] ?? "")) continue;
		if (!(/[\w$]/.test(before) && /^[\w$]/.test(wanted)) && !(/[\w$]/.test(after) && /[\w$]$/.test(wanted)))
			return true;
	}
	return false;
}

/** How a unit matches a question. */
export interface Match {
	readonly unit: Unit;
	/** Share of the question's weight that is found, from 0 to 1. */
	readonly coverage: number;
	/** Share found in the block itself. */
	readonly own: number;
	/** Terms that are neither in the block nor around it nor in its path. */
	readonly missing: readonly Term[];
}

/** Matches a unit against terms: in the block counts whole, around it three quarters, in the path a half. */
export function matchUnit(corpus: Corpus, unit: Unit, terms: readonly Term[]): Match {
	let total = 0;
	let found = 0;
	let own = 0;
	const missing: Term[] = [];
	const place = corpus.place(unit.document);
	const path = unit.document.path.toLowerCase();
	for (const term of terms) {
		const weight = corpus.weight(term);
		total += weight;
		const inside = termIn(term, unit.own, unit.ownText);
		const around = inside > 0 ? 0 : 0.8 * termIn(term, unit.around, unit.aroundText);
		const named =
			inside > 0 || around > 0 ? 0 : (isNamedAfter(path, term) ? 0.85 : 0.6) * termIn(term, place, path);
		own += weight * inside;
		found += weight * (inside || around || named);
		if (inside === 0 && around === 0 && named === 0) missing.push(term);
	}
	const near = unit.own.size > LONG_TEXT && !standTogether(unit.block.text, terms) ? 0.6 : 1;
	return {
		unit,
		coverage: total === 0 ? 0 : (near * found) / total,
		own: total === 0 ? 0 : (near * own) / total,
		missing,
	};
}

/** Is the file named just like the term? */
function isNamedAfter(path: string, term: Term): boolean {
	const name = path.slice(path.lastIndexOf("/") + 1);
	return name === term.text.toLowerCase() || name.replace(/\.[^.]*$/, "") === term.text.toLowerCase();
}

/** Different words from which on a text is long, so that its words must stand close together to count. */
const LONG_TEXT = 60;
const CLOSE = 40;

/** Do the terms that a long text holds stand within a stretch of it? */
function standTogether(text: string, terms: readonly Term[]): boolean {
	const words = wordsOf(text);
	const stems = words.map(stem);
	const wanted = terms
		.map((term) => new Set([...term.stems.slice(0, 1), ...term.synonyms]))
		.filter((variants) => stems.some((one) => variants.has(one)));
	if (wanted.length < 2) return true;
	return stems.some((one, at) => {
		if (!wanted[0]?.has(one)) return false;
		const stretch = stems.slice(Math.max(0, at - CLOSE), at + CLOSE);
		return wanted.every((variants) => stretch.some((other) => variants.has(other)));
	});
}
