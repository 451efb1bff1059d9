/**
 * Answers "which X does FILE list?": finds where the project lists X (a heading, a label, a key, a table, a
 * sentence that announces a list, definitions) and returns everything listed there, grouped by release or
 * heading.
 */
import { type Answer, type AnswerLine, blockLine } from "../answer.ts";
import { type Corpus, matchUnit, nameIn, termIn, type Unit } from "../corpus.ts";
import { type Block, headingPath, releaseOf, type Section, type SourceDocument } from "../document.ts";
import type { Question, Term } from "../question.ts";
import { isLooseModifier, isStopWord, isWeakWord, stem, stemsOf, synonymsOf, wordsOf } from "../words.ts";
import { definitionsOfKind } from "./definitions.ts";
import { blocksOf, countItems, listedItems, releaseFilter, sectionLines } from "./sections.ts";

/** A place that lists what was asked for. */
interface Place {
	readonly document: SourceDocument;
	readonly quality: number;
	/** First and last line it covers. */
	readonly from: number;
	readonly to: number;
	readonly group: AnswerLine | undefined;
	readonly lines: readonly AnswerLine[];
	readonly count: number;
	/** It stands under a release, where each release may mark its lists in its own way. */
	readonly released: boolean;
	readonly how: "section" | "label" | "key" | "lead" | "definition" | "mention";
}

/** What was listed, and how many things. */
export interface Listing extends Answer {
	readonly count: number;
}

/** The words of the thing to list. */
interface Focus {
	readonly words: readonly string[];
	/** Stems that must be there, the loose modifiers left out. */
	readonly needed: readonly string[];
	readonly loose: readonly string[];
	/** The stems that tell this kind of thing from others: of "red lamps", "red". */
	readonly telling: readonly string[];
	/** The other telling terms of the question. */
	readonly rest: readonly Term[];
}

/** Lists what the question asks for, or nothing when no place lists it. */
export function answerList(corpus: Corpus, question: Question): Listing | undefined {
	const focus = readFocus(question);
	if (!focus) return undefined;
	const kinds = definitionsOfKind(corpus, question, focus.words);
	if (kinds) return { ...kinds, count: kinds.lines.length - 1 };
	const places = corpus.documents.flatMap((document) => placesIn(corpus, document, question, focus));
	const best = Math.max(0, ...places.map((place) => place.quality));
	if (best < 0.45) return undefined;
	const bestPlaces = places.filter((place) => place.quality >= best - 0.12);
	const documents = new Set(
		question.files.length > 0
			? bestPlaces.map((place) => place.document)
			: [bestPlaces.reduce((one, other) => (other.quality > one.quality + 0.02 ? other : one)).document],
	);
	const chosen = places.filter(
		(place) =>
			documents.has(place.document) &&
			(place.quality >= best - 0.12 ||
				(place.released && (place.how === "label" || place.how === "section"))),
	);
	const main = dropNested(chosen.filter((place) => best < 0.6 || place.how !== "mention"));
	const seen = (place: Place): boolean =>
		main.some((one) => one.document === place.document && place.from >= one.from && place.from <= one.to);
	const mentions =
		best < 0.6
			? []
			: places
					.filter((place) => place.how === "mention" && documents.has(place.document) && !seen(place))
					.slice(0, 10);
	return compose(question, main, mentions, best);
}

function readFocus(question: Question): Focus | undefined {
	const words = question.focus.flatMap(wordsOf);
	const needed = [...new Set(words.filter((word) => !isLooseModifier(word)).map(stem))];
	if (needed.length === 0) return undefined;
	const all = new Set(words.map(stem));
	const rest = question.terms.filter((term) => !term.weak && !term.stems.every((one) => all.has(one)));
	return {
		words,
		needed,
		loose: words.filter(isLooseModifier).map(stem),
		telling: needed.length > 1 ? needed.slice(0, -1) : needed,
		rest,
	};
}

/** Is this stem there, or one of the same meaning? */
export function has(stems: ReadonlySet<string>, one: string): boolean {
	if (stems.has(one)) return true;
	for (const synonym of synonymsOf(one)) if (stems.has(synonym)) return true;
	return false;
}

/** How well a title names the focus: 0 not at all, 1 with exactly its words. */
function titleMatch(title: string, focus: Focus): number {
	const stems = stemsOf(
		title
			.split(/\s+/)
			.filter((word) => !isStopWord(word))
			.join(" "),
	);
	if (stems.size === 0) return 0;
	if (/\bnon?[- ]/i.test(title) || /^no\b/i.test(title)) return 0;
	const known = [...stems].filter((one) =>
		[...focus.needed, ...focus.loose].some((wanted) => wanted === one || synonymsOf(wanted).has(one)),
	);
	if (focus.needed.every((one) => has(stems, one))) return 0.65 + 0.35 * (known.length / stems.size);
	// Asked for red lamps, "### Red" lists them and "### Lamps" does not.
	return known.length === stems.size &&
		focus.telling.every((one) => has(stems, one)) &&
		!focus.telling.every(isWeakWord)
		? 0.7
		: 0;
}

function restFactor(corpus: Corpus, focus: Focus, unit: Unit, body: string, named: boolean): number {
	if (focus.rest.length === 0) return 1;
	const stems = stemsOf(body);
	const text = body.toLowerCase();
	let total = 0;
	let found = 0;
	for (const term of focus.rest) {
		const weight = corpus.weight(term);
		total += weight;
		const match = matchUnit(corpus, unit, [term]).coverage;
		found += weight * Math.max(match, 0.9 * termIn(term, stems, text));
	}
	const share = found / total;
	// A name that is not there at all makes it another question.
	if (!named && share < 0.34) return 0.3;
	if (share < 0.34 && focus.rest.some((term) => term.exact || /\p{Lu}|\d/u.test(term.text))) return 0.3;
	return named ? 0.55 + 0.45 * share : 0.3 + 0.7 * share;
}

function placesIn(corpus: Corpus, document: SourceDocument, question: Question, focus: Focus): Place[] {
	const units = corpus.units.filter((unit) => unit.document === document);
	const named = question.files.includes(document.path);
	const base = named ? 0.05 : document.kind === "prose" ? 0.03 : 0;
	const places: Place[] = [];
	const releases = releaseFilter(document, question);
	for (const unit of units) {
		const { block } = unit;
		if (document.kind === "prose" && !releases(block.section)) continue;
		const released = releaseOf(document, block.section) !== undefined;
		const rest = (body: string): number => restFactor(corpus, focus, unit, body, named);
		if (block.kind === "heading") {
			const quality = titleMatch(block.label, focus);
			if (quality === 0) continue;
			const blocks = blocksOf(document, block.section);
			if (blocks.length === 0) continue;
			const section = document.sections[block.section] as Section;
			const full = blocks.length <= 40;
			places.push({
				document,
				released,
				quality: quality * rest(blocks.map(({ text }) => text).join(" ")) + base,
				from: block.line,
				to: section.endLine,
				group: groupOf(document, block.section),
				lines: sectionLines(document, blocks, full ? "full" : "brief"),
				count: question.kind === "count" ? listedItems(blocks) : countItems(blocks),
				how: "section",
			});
		} else if (block.kind === "entry") {
			const quality = keyMatch(block, focus);
			if (quality === 0) continue;
			const children = units.filter((other) => other.block.parent === unit.index);
			if (children.length === 0) continue;
			places.push({
				document,
				released,
				quality: quality * rest(block.text) + base,
				from: block.line,
				to: block.endLine,
				group: { text: block.label, cite: { path: document.path, line: block.line }, kind: "title" },
				lines: children.map((child) => blockLine(document, child.block)),
				count: children.length,
				how: "key",
			});
		} else if (block.kind === "item" || block.kind === "paragraph") {
			const place = labelPlace(unit, units, focus) ?? mentionPlace(unit, focus);
			if (!place) continue;
			places.push({
				document,
				released,
				quality: place.quality * rest(block.text) + base,
				from: block.line,
				to: place.to,
				group: groupOf(document, block.section),
				lines: place.lines,
				count: place.count,
				how: place.how,
			});
		} else if (
			block.kind === "definition" &&
			/enum|type|constant|union/.test(block.defines ?? "") &&
			focus.needed.length > 0
		) {
			const stems = stemsOf(block.label);
			if (!focus.needed.every((one) => stems.has(one)) || stems.size > focus.needed.length + 2) continue;
			const text = document.lines
				.slice(block.line - 1, Math.min(block.endLine, block.line + 40))
				.map((line) => line ?? "")
				.join("\n");
			places.push({
				document,
				released,
				quality: 0.62 * rest(block.text) + base,
				from: block.line,
				to: block.endLine,
				group: { text: block.label, cite: { path: document.path, line: block.line }, kind: "title" },
				lines: [{ text, kind: "code" }],
				count: block.endLine - block.line - 1,
				how: "definition",
			});
		}
	}
	return places;
}

function keyMatch(block: Block, focus: Focus): number {
	const stems = new Set(wordsOf(block.label.replace(/^.*\./, "")).map(stem));
	const parts = wordsOf(block.label).length > 1 ? wordsOf(block.label).slice(0, -1).map(stem) : [...stems];
	const wanted = [...focus.needed, ...focus.loose];
	// The telling word alone may be the key: `environment` for environment variables.
	if (
		focus.needed.length > 1 &&
		focus.telling.every((one) => stems.has(one)) &&
		stems.size === focus.telling.length
	)
		return 0.7;
	if (!focus.needed.every((one) => has(stems, one))) return 0;
	if (parts.every((one) => wanted.some((word) => word === one || synonymsOf(word).has(one)))) return 1;
	return block.depth === 0 ? 0.6 : 0.4;
}

type Found = Pick<Place, "quality" | "lines" | "to" | "count" | "how">;

/** A block whose lead names the focus: "**Red:** …", or "Red lamps:" with a list below. */
function labelPlace(unit: Unit, units: readonly Unit[], focus: Focus): Found | undefined {
	const { block, document } = unit;
	const announces = block.kind === "paragraph" && /:\s*$/.test(block.text);
	const names = block.kind === "item" && titleMatch(block.text, focus) >= 0.9;
	if (announces || names || (block.label !== "" && block.text.replace(/:\s*$/, "") === block.label)) {
		const stems = stemsOf(block.text);
		if (!focus.needed.every((one) => has(stems, one))) return undefined;
		const listed = units.filter(
			(other) =>
				other.block.line > block.line &&
				(other.block.parent === unit.index ||
					(other.block.context !== "" && other.block.context.startsWith(block.text))),
		);
		if (listed.length === 0) return undefined;
		const last = (listed.at(-1) as Unit).block;
		return {
			quality: 0.72,
			how: "lead",
			to: last.endLine,
			count: countItems(listed.map((other) => other.block)),
			lines: [
				{ text: block.text, cite: { path: document.path, line: block.line }, kind: "plain" },
				...sectionLines(
					document,
					listed.map((other) => other.block),
				),
			],
		};
	}
	if (![block.label, ...tagsOf(block.text)].some((label) => isLabelFor(label, focus))) return undefined;
	const children = units.filter((other) => other.block.parent === unit.index && other.block.kind === "item");
	return {
		quality: 0.75,
		how: "label",
		to: block.endLine,
		count: 1,
		lines: [blockLine(document, block), ...children.map((child) => blockLine(document, child.block, 1))],
	};
}

/** Every word of a label must be asked for: "Event source:" is no list of events. */
function isLabelFor(label: string, focus: Focus): boolean {
	const quality = label === "" ? 0 : titleMatch(label, focus);
	return quality === 0.7 || quality >= 0.9;
}

/** Short remarks in brackets: "(red)", "[red lamps]". */
function tagsOf(text: string): string[] {
	return [...text.matchAll(/[([]\s*([\p{L}][\p{L} -]{1,38})\s*[)\]]/gu)].map((match) => match[1] as string);
}

/** A block in whose text the words of the focus stand side by side. */
function mentionPlace(unit: Unit, focus: Focus): Found | undefined {
	const { block, document } = unit;
	if (!focus.needed.every((one) => unit.own.has(one))) return undefined;
	if (focus.needed.length > 1 && !sideBySide(block.text, focus.needed, focus.loose.length)) return undefined;
	if (/\bnon-/i.test(block.text) && nameIn(`non-${focus.words[0]}`, block.text.toLowerCase()))
		return undefined;
	return {
		quality: focus.needed.length > 1 ? 0.52 : block.kind === "item" ? 0.5 : 0.46,
		how: "mention",
		to: block.endLine,
		count: 1,
		lines: [blockLine(document, block)],
	};
}

/** Do these stems stand next to each other somewhere in the text, and not after a "no"? */
function sideBySide(text: string, needed: readonly string[], spare: number): boolean {
	const stems = wordsOf(text).map(stem);
	return stems.some((_one, at) => {
		const window = new Set(stems.slice(at, at + needed.length + spare));
		return needed.every((one) => window.has(one)) && !/^(?:no|non|not|without)$/.test(stems[at - 1] ?? "");
	});
}

/** Do the words of the thing asked for stand together in the text? */
export function phraseIn(text: string, focus: readonly string[]): boolean {
	const needed = focus
		.flatMap(wordsOf)
		.filter((word) => !isLooseModifier(word))
		.map(stem);
	return needed.length < 2 || sideBySide(text, needed, 1);
}

function groupOf(document: SourceDocument, section: number): AnswerLine | undefined {
	const release = releaseOf(document, section);
	const heading = release ?? headingPath(document, section).at(-1);
	return heading && { text: heading.title, cite: { path: document.path, line: heading.line }, kind: "title" };
}

function dropNested(places: readonly Place[]): Place[] {
	const rank = { section: 0, key: 0, lead: 1, label: 2, definition: 2, mention: 3 };
	const kept: Place[] = [];
	for (const place of [...places].sort(
		(left, right) =>
			rank[left.how] - rank[right.how] ||
			right.quality - left.quality ||
			left.from - right.from ||
			right.to - left.to,
	))
		if (
			!kept.some((one) => one.document === place.document && place.from >= one.from && place.from <= one.to)
		)
			kept.push(place);
	return kept.sort((left, right) =>
		left.document === right.document
			? left.from - right.from
			: left.document.path < right.document.path
				? -1
				: 1,
	);
}

function compose(
	question: Question,
	main: readonly Place[],
	mentions: readonly Place[],
	best: number,
): Listing {
	const count = main.reduce((sum, place) => sum + place.count, 0);
	const paths = [...new Set(main.map((place) => place.document.path))];
	const groups = new Set(main.map((place) => place.group?.text)).size;
	const phrase = question.focus.join(" ");
	const head = `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)} in ${paths.join(", ")}${count > 1 ? ` (${count}${groups > 1 ? ` in ${groups} sections` : ""})` : ""}:`;
	const lines: AnswerLine[] = [{ text: head, kind: "plain" }];
	let group: string | undefined;
	for (const place of main) {
		const key = `${place.document.path}:${place.group?.cite?.line}`;
		if (place.group && key !== group) lines.push(place.group);
		group = key;
		lines.push(...place.lines);
	}
	if (mentions.length > 0) {
		lines.push({ text: "Also mentioned:", kind: "title" });
		for (const place of mentions) lines.push(...place.lines);
	}
	return { confidence: best, lines, count };
}
