/** Finds the places of a document that list something: headings, labels, keys, tables, announced lists, definitions. */
import { type AnswerLine, blockLine } from "../answer.ts";
import { type Corpus, matchUnit, nameIn, termIn, type Unit } from "../corpus.ts";
import { type Block, headingPath, releaseOf, type Section, type SourceDocument } from "../document.ts";
import type { Question } from "../question.ts";
import { stem, stemsOf, synonymsOf, wordsOf } from "../words.ts";
import { type Focus, has, sideBySide, titleMatch } from "./focus.ts";
import { blocksOf, countItems, listedItems, releaseFilter, sectionLines } from "./sections.ts";

/** A place that lists what was asked for. */
export interface Place {
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

/** The places of one document, each with how well it fits. */
export function placesIn(
	corpus: Corpus,
	document: SourceDocument,
	question: Question,
	focus: Focus,
): Place[] {
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
		} else if (block.kind === "row") {
			const above = document.blocks[unit.index - 1];
			if (above?.kind === "row" && above.line === block.line - 1) continue;
			const quality = titleMatch(block.defines ?? "", focus);
			if (quality === 0) continue;
			const rows = rowsFrom(document, unit.index);
			places.push({
				document,
				released,
				quality: quality * 0.85 * rest(rows.map(({ text }) => text).join(" ")) + base,
				from: block.line,
				to: (rows.at(-1) as Block).line,
				group: groupOf(document, block.section),
				lines: sectionLines(document, rows),
				count: rows.length,
				how: "lead",
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

/** The rows of a table from its first one on. */
function rowsFrom(document: SourceDocument, first: number): Block[] {
	const rows: Block[] = [];
	for (let at = first; at < document.blocks.length; at++) {
		const block = document.blocks[at] as Block;
		if (block.kind !== "row" || (rows.length > 0 && block.line !== (rows.at(-1) as Block).line + 1)) break;
		rows.push(block);
	}
	return rows;
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

function groupOf(document: SourceDocument, section: number): AnswerLine | undefined {
	const release = releaseOf(document, section);
	const heading = release ?? headingPath(document, section).at(-1);
	return heading && { text: heading.title, cite: { path: document.path, line: heading.line }, kind: "title" };
}
