/** Answers "what is this?": what introduces the project or a named file, and its outline. */
import { type Answer, type AnswerLine, blockLine } from "../answer.ts";
import type { Corpus } from "../corpus.ts";
import type { SourceDocument } from "../document.ts";
import type { Question } from "../question.ts";
import { definitionLine } from "./definitions.ts";
import { releasesOf } from "./sections.ts";

/** Introduces the project, or summarises the files that the question names. */
export function answerOverview(corpus: Corpus, question: Question): Answer | undefined {
	const named = corpus.documents.filter((document) => question.files.includes(document.path));
	if (named.length > 0)
		return { confidence: 0.8, lines: named.flatMap((document) => summarise(corpus, document)) };
	const lines: AnswerLine[] = [];
	for (const { document, block } of corpus.units)
		if (
			block.kind === "entry" &&
			block.depth <= 1 &&
			/^(?:name|description|about|summary)$/i.test(block.label) &&
			!document.path.includes("/") &&
			block.text.includes(": ")
		)
			lines.push(blockLine(document, block));
	const introduction = introducing(corpus);
	if (introduction) lines.push(...summarise(corpus, introduction));
	return lines.length > 0 ? { confidence: 0.8, lines: lines.slice(0, 40) } : undefined;
}

/** The document that introduces the project: short way from the top, a title, text below it, code to try. */
function introducing(corpus: Corpus): SourceDocument | undefined {
	const name = corpus.units
		.find(({ block }) => block.kind === "entry" && block.depth === 0 && block.label === "name")
		?.block.text.replace(/^name: (?:@[^/]+\/)?/, "")
		.toLowerCase();
	const scored = corpus.documents
		.filter((document) => document.kind === "prose" && document.blocks.length > 1)
		.map((document) => {
			const title = document.sections[0]?.title.toLowerCase() ?? "";
			const blocks = document.blocks;
			const score =
				(name !== undefined && name !== "" && title.includes(name) ? 2 : 0) +
				(blocks.some((block) => block.kind === "code") ? 1 : 0) +
				Math.min(1, document.sections.length / 8) +
				(document.lines.some((line) => /\]\(https?:/.test(line ?? "")) ? 0.5 : 0) -
				(releasesOf(document).length > 1 ? 3 : 0) -
				2 * (document.path.split("/").length - 1);
			return { document, score };
		})
		.sort((left, right) => right.score - left.score);
	return scored[0]?.document;
}

function summarise(corpus: Corpus, document: SourceDocument): AnswerLine[] {
	const lines: AnswerLine[] = [];
	if (document.kind !== "prose") {
		const units = corpus.units.filter((unit) => unit.document === document);
		const comment = units.find(({ block }) => block.kind === "paragraph");
		if (comment) lines.push(blockLine(document, comment.block));
		for (const unit of units
			.filter(({ block }) => block.depth === 0 && (block.kind === "definition" || block.kind === "entry"))
			.slice(0, 30))
			lines.push(unit.block.kind === "definition" ? definitionLine(unit) : blockLine(document, unit.block));
		return lines;
	}
	const title = document.blocks.find((block) => block.kind === "heading");
	if (title) lines.push({ text: title.text, cite: { path: document.path, line: title.line }, kind: "title" });
	const told = document.blocks.filter(
		({ kind, text, line }) =>
			kind === "paragraph" &&
			text.length > 10 &&
			/\s/.test(text) &&
			!isDecoration(document.lines[line - 1] ?? ""),
	);
	for (const block of told.slice(0, 3)) lines.push(blockLine(document, block));
	const outline = document.sections.filter((section) => section.level <= 2 && section.line !== title?.line);
	if (outline.length > 0) {
		lines.push({ text: `Sections of ${document.path}:`, kind: "title" });
		for (const section of outline.slice(0, 20))
			lines.push({ text: section.title, cite: { path: document.path, line: section.line }, kind: "item" });
		if (outline.length > 20) lines.push({ text: `and ${outline.length - 20} more`, kind: "plain" });
	}
	return lines;
}

/** Badges, pictures and markup say nothing about a project. */
function isDecoration(line: string): boolean {
	return /^\s*(?:\[?!\[|<|\.\. )/.test(line);
}

/** "List the headings of FILE." */
export function answerOutline(corpus: Corpus, question: Question): Answer | undefined {
	if (!question.focus.some((word) => /^(?:headings?|sections?|chapters?|titles?|topics?)$/i.test(word)))
		return undefined;
	const named = corpus.documents.filter(
		(document) => question.files.includes(document.path) && document.sections.length > 0,
	);
	if (
		named.length === 0 ||
		question.terms.some(
			(term) => !term.weak && !/^(?:heading|section|chapter|title|topic)s?$/i.test(term.text),
		)
	)
		return undefined;
	return {
		confidence: 0.9,
		lines: named.flatMap((document): AnswerLine[] => [
			{ text: `${document.sections.length} headings in ${document.path}:`, kind: "title" },
			...document.sections.map(
				(section): AnswerLine => ({
					text: section.title,
					cite: { path: document.path, line: section.line },
					kind: "item",
					indent: Math.min(3, section.level - 1),
				}),
			),
		]),
	};
}
