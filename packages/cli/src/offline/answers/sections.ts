/** Sections and releases of a document, as the answers need them. */
import type { AnswerLine } from "../answer.ts";
import { blockLine } from "../answer.ts";
import type { Block, Section, SourceDocument } from "../document.ts";
import type { Question } from "../question.ts";

/** The blocks below a heading, those of the headings under it included, without the heading itself. */
export function blocksOf(document: SourceDocument, index: number): Block[] {
	const section = document.sections[index] as Section;
	return document.blocks.filter(
		(block) => block.line > section.line && block.line <= section.endLine && block.section >= index,
	);
}

/** What stands in a section, as lines of an answer. */
export function sectionLines(
	document: SourceDocument,
	blocks: readonly Block[],
	detail: "full" | "brief" = "full",
): AnswerLine[] {
	const listed = blocks.some((block) => block.kind === "item" || block.kind === "row");
	const lines: AnswerLine[] = [];
	for (const block of blocks) {
		if (block.kind === "code" && (detail === "brief" || listed)) continue;
		if (
			detail === "brief" &&
			(block.depth > 0 || block.kind === "paragraph") &&
			listed &&
			block.kind !== "heading"
		)
			continue;
		const indent = block.kind === "item" ? Math.min(block.depth, 3) : 0;
		lines.push(
			block.kind === "paragraph" && listed
				? { ...blockLine(document, block, indent), kind: "plain" }
				: blockLine(document, block, indent),
		);
	}
	return lines;
}

/** How many list items, table rows and entries there are. */
export function listedItems(blocks: readonly Block[]): number {
	return blocks.filter(
		(block) => block.kind === "row" || block.kind === "entry" || (block.kind === "item" && block.depth === 0),
	).length;
}

/** How many things a section lists. */
export function countItems(blocks: readonly Block[]): number {
	const items = listedItems(blocks);
	return items > 0 ? items : blocks.filter((block) => block.kind === "paragraph").length;
}

/** Indexes of the release headings of a document. */
export function releasesOf(document: SourceDocument): number[] {
	return document.sections.flatMap((section, index) => (section.version !== undefined ? [index] : []));
}

/** Which sections a question about a release allows: all of them when it names none. */
export function releaseFilter(document: SourceDocument, question: Question): (section: number) => boolean {
	if (question.versions.length === 0 && !question.latest) return () => true;
	const asked = new Set(askedReleases(document, question));
	return (section) => asked.has(document.sections[section]?.release ?? -1);
}

/** Indexes of the release headings that a question names, the newest for "the latest". */
export function askedReleases(document: SourceDocument, question: Question): number[] {
	const releases = releasesOf(document);
	const dated = releases.filter((index) => document.sections[index]?.version !== "unreleased");
	if (question.latest) return newest(document, dated);
	return question.versions.flatMap((wanted) => {
		const version = (index: number): string => (document.sections[index] as Section).version as string;
		const exact = dated.filter((index) => version(index) === wanted);
		if (exact.length > 0) return exact;
		const zeros = dated.filter(
			(index) => version(index).replace(/(?:\.0)+$/, "") === wanted.replace(/(?:\.0)+$/, ""),
		);
		if (zeros.length > 0) return zeros;
		return dated.filter((index) => version(index).startsWith(`${wanted}.`));
	});
}

function newest(document: SourceDocument, releases: readonly number[]): number[] {
	const final = releases.filter((index) => !/[a-z]/.test(document.sections[index]?.version ?? ""));
	const sorted = [...(final.length > 0 ? final : releases)].sort((left, right) =>
		(document.sections[right]?.version ?? "").localeCompare(document.sections[left]?.version ?? "", "en", {
			numeric: true,
		}),
	);
	return sorted.slice(0, 1);
}
