/** Answers "where is X?": definitions, places of use, and files whose name says so. */
import { type Answer, type AnswerLine, blockLine } from "../answer.ts";
import { type Corpus, nameIn, termIn } from "../corpus.ts";
import type { Question } from "../question.ts";
import type { Transcript } from "../transcript.ts";
import { stemsOf } from "../words.ts";
import { definitionLine, findDefinitions, subjectOf } from "./definitions.ts";
import { answerPassages, bestMatches } from "./passages.ts";

/** Says where something is defined, used, or kept. */
export function answerWhere(corpus: Corpus, question: Question, transcript: Transcript): Answer | undefined {
	const name = subjectOf(question);
	const uses = /\b(?:used|called|referenced|imported|invoked|uses|calls|imports)\b/i.test(question.task);
	if (name) {
		const definitions = findDefinitions(corpus, name);
		const lines: AnswerLine[] = uses ? [] : definitions.slice(0, 4).map(definitionLine);
		if (uses || (definitions.length === 0 && name.exact)) {
			const used = corpus.units.filter(
				({ ownText, block }) =>
					nameIn(name.text, ownText) && (!uses || !definitions.some((unit) => unit.block === block)),
			);
			lines.push(...used.slice(0, 12).map(({ document, block }) => blockLine(document, block)));
		}
		if (lines.length > 0) return { confidence: 0.9, lines };
		if (name.exact) return undefined;
	}
	const telling = question.terms.filter((term) => !term.weak);
	if (telling.length === 0) return undefined;
	// A thing of the code, written in words: "the retry limit" is `retryLimit`.
	const stems = telling.flatMap((term) => term.stems);
	const defined = corpus.units.filter(({ block }) => {
		if (block.kind !== "definition") return false;
		const label = stemsOf(block.label);
		return stems.every((one) => label.has(one)) && label.size <= stems.length + 2;
	});
	const files = (transcript.files ?? []).filter(({ path }) => {
		const own = stemsOf(path);
		return telling.every((term) => termIn(term, own, path.toLowerCase()) > 0);
	});
	// Where things are kept is told by texts; where they are written down, by the code itself.
	const kept = /\b(?:stor|locat|kept|sav|written|liv|cach|put|go)/i.test(question.task);
	const passages =
		(kept
			? answerPassages(corpus, question, undefined, ({ document }) => document.kind === "prose")
			: undefined) ?? answerPassages(corpus, question);
	const told = (passages?.lines ?? []).slice(0, defined.length > 0 ? 6 : 20);
	const lines: AnswerLine[] = [
		...(kept ? told : []),
		...defined.slice(0, 3).map(definitionLine),
		...(kept || defined.length > 0 ? [] : told),
		...files
			.slice(0, defined.length > 0 ? 3 : 8)
			.map(({ path }): AnswerLine => ({ text: path, cite: { path, line: 1 }, kind: "item" })),
	];
	if (
		lines.length === 0 ||
		(files.length > 0 &&
			defined.length === 0 &&
			passages === undefined &&
			bestMatches(corpus, question).length === 0 &&
			telling.length > 3)
	)
		return undefined;
	return { confidence: 0.75, lines };
}

/** "Which files are in DIRECTORY?" */
export function answerFiles(question: Question, transcript: Transcript): Answer | undefined {
	if (!question.focus.some((word) => /^(?:files?|directories|folders|packages|modules)$/i.test(word)))
		return undefined;
	const wanted = question.terms.filter((term) => !term.weak);
	const directory = question.directories[0];
	const matching = (transcript.files ?? []).filter(({ path }) => {
		const own = stemsOf(path);
		return (
			(directory === undefined || path.startsWith(`${directory}/`)) &&
			wanted.every((term) => term.stems.every((one) => own.has(one)))
		);
	});
	if (matching.length === 0 || (wanted.length === 0 && directory === undefined && question.focus.length > 1))
		return undefined;
	return {
		confidence: 0.7,
		lines: [
			{
				text: `Files${directory === undefined ? "" : ` in ${directory}`} (${matching.length}):`,
				kind: "plain",
			},
			...matching.map(({ path }): AnswerLine => ({ text: path, kind: "item" })),
		],
	};
}
