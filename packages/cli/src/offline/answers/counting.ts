/** Answers "how many X?": a number the texts state, or the length of what is listed. */
import { type Answer, type AnswerLine, blockLine } from "../answer.ts";
import { type Corpus, matchUnit } from "../corpus.ts";
import type { Question } from "../question.ts";
import type { Transcript } from "../transcript.ts";
import { stem, wordsOf } from "../words.ts";
import { answerList } from "./listing.ts";
import { answerPassages, bestMatches } from "./passages.ts";
import { countReleases } from "./releases.ts";

/** Counts what the question asks for. */
export function answerCount(corpus: Corpus, question: Question, transcript: Transcript): Answer | undefined {
	const measured = measure(corpus, question, transcript);
	if (measured) return measured;
	const stated = statedNumber(corpus, question);
	const releases = countReleases(corpus, question);
	if (releases) return releases;
	const listing = answerList(corpus, question);
	const heading = question.focus.join(" ");
	if (listing && listing.confidence >= 0.6 && listing.count > 0)
		return {
			confidence: listing.confidence,
			lines: [
				{ text: `${listing.count} ${heading}.`, kind: "plain" },
				...listing.lines,
				...(stated?.lines.slice(0, 1) ?? []),
			],
		};
	if (stated) return stated;
	const passages = answerPassages(
		corpus,
		question,
		({ block }) => (NUMBER.test(block.text) ? 0.1 : 0),
		({ block, document }) => NUMBER.test(block.text) && document.kind !== "code",
	);
	if (passages && passages.confidence > 0.8) return passages;
	return listing && listing.count > 0 && listing.confidence >= 0.5 && question.files.length > 0
		? {
				confidence: listing.confidence,
				lines: [{ text: `${listing.count} ${heading} found.`, kind: "plain" }, ...listing.lines],
			}
		: undefined;
}

/** Lines, words and files can be counted without understanding anything. */
function measure(corpus: Corpus, question: Question, transcript: Transcript): Answer | undefined {
	const focus = question.focus.map((word) => stem(word));
	if (focus.includes("line") && question.files.length > 0)
		return {
			confidence: 1,
			lines: corpus.documents.map((document) => ({
				text: `${document.path} has ${document.total} lines.`,
				cite: { path: document.path, line: document.total },
				kind: "plain",
			})),
		};
	if (focus.at(-1) === "file" && question.files.length === 0) {
		const others = question.focus.slice(0, -1).map((word) => word.toLowerCase());
		const files = (transcript.files ?? []).filter(
			({ path }) =>
				question.directories.every((directory) => path.startsWith(`${directory}/`)) &&
				others.every((word) => path.toLowerCase().includes(word)),
		);
		if (others.length > 0 && files.length === 0) return undefined;
		return {
			confidence: 0.8,
			lines: [
				{
					text: `${files.length} ${question.focus.join(" ")}${question.directories.length > 0 ? ` in ${question.directories.join(", ")}` : ""}.`,
					kind: "plain",
				},
			],
		};
	}
	if (focus.some((one) => one === "head" || one === "section") && question.files.length > 0)
		return {
			confidence: 0.8,
			lines: corpus.documents.map((document) => ({
				text: `${document.path} has ${document.sections.length} headings.`,
				kind: "plain",
			})),
		};
	return undefined;
}

const NUMBER =
	/\b(?:\d[\d,.]*\+?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?)\b/i;

/** A sentence in which a number stands right before the thing counted. */
function statedNumber(corpus: Corpus, question: Question): Answer | undefined {
	const focus = question.focus.map((word) => stem(word));
	const head = focus.at(-1);
	if (head === undefined) return undefined;
	const matches = bestMatches(corpus, question).filter(({ match }) => {
		const words = wordsOf(match.unit.block.text);
		const at = words.map(stem).indexOf(head);
		return at > 0 && words.slice(Math.max(0, at - 3), at).some((word) => NUMBER.test(word));
	});
	const best = matches[0];
	if (!best || matchUnit(corpus, best.match.unit, question.terms).own < 0.5) return undefined;
	const lines: AnswerLine[] = matches
		.slice(0, 2)
		.map(({ match }) => blockLine(match.unit.document, match.unit.block));
	return { confidence: 0.75, lines };
}
