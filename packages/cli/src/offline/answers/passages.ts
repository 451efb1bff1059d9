/** Answers from the passages that match the question's words best, and only if they match well. */
import { type Answer, type AnswerLine, blockLine } from "../answer.ts";
import { type Corpus, type Match, matchUnit, type Unit } from "../corpus.ts";
import { releaseOf } from "../document.ts";
import type { Question, Term } from "../question.ts";
import { splitName, stem, stemsOf } from "../words.ts";
import { blocksOf } from "./sections.ts";

/** Share of the question's weight that a passage must hold. */
const ENOUGH = 0.66;
const PASSAGES = 5;

/** The terms of a question with its versions, which must be found as written. */
export function requiredTerms(question: Question): Term[] {
	const versions = question.versions.map(
		(version): Term => ({
			text: version,
			stems: splitName(version).map(stem),
			synonyms: new Set(),
			exact: true,
			weak: false,
		}),
	);
	return [...question.terms, ...versions];
}

/** Matches worth showing, the best first. */
export function bestMatches(
	corpus: Corpus,
	question: Question,
	bonus: (unit: Unit) => number = () => 0,
	allowed: (unit: Unit) => boolean = () => true,
): { match: Match; score: number }[] {
	const terms = requiredTerms(question);
	if (terms.length === 0) return [];
	const telling = terms.some((term) => !term.weak);
	const scored: { match: Match; score: number }[] = [];
	for (const unit of corpus.units) {
		if (!allowed(unit)) continue;
		const match = matchUnit(corpus, unit, terms);
		if (match.coverage < ENOUGH || (match.own < 0.25 && bonus(unit) < 0.3)) continue;
		if (
			match.missing.some(
				(term) => term.exact || (term.proper === true && !term.weak && match.coverage < 0.85),
			)
		)
			continue;
		if (!telling && match.coverage < 0.95) continue;
		scored.push({
			match,
			score:
				match.coverage +
				0.15 * match.own +
				bonus(unit) -
				0.02 * Math.log(1 + unit.own.size) -
				aside(unit) -
				past(unit, question) -
				(unit.own.size > 250 ? 0.15 : 0),
		});
	}
	return scored.sort((left, right) => right.score - left.score);
}

function aside({ document, block }: Unit): number {
	const nature =
		document.kind === "prose"
			? 0
			: document.kind === "data"
				? block.text.length > 200
					? 0.12
					: 0.02
				: block.kind === "code"
					? 0.12
					: 0.06;
	return (
		nature +
		0.01 * document.path.split("/").length +
		(/(?:^|\/)(?:tests?|__tests__|spec|fixtures?|dist|build|vendor|examples?)\/|\.(?:test|spec)\.|\.d\.[cm]?ts$/.test(
			document.path,
		)
			? 0.08
			: 0)
	);
}

/** What once changed says less about how things are than other texts do. */
function past({ document, block }: Unit, question: Question): number {
	return question.versions.length === 0 &&
		!/\bchang/i.test(question.task) &&
		releaseOf(document, block.section) !== undefined
		? 0.1
		: 0;
}

/** Shows the best passages. */
export function answerPassages(
	corpus: Corpus,
	question: Question,
	bonus?: (unit: Unit) => number,
	allowed?: (unit: Unit) => boolean,
): Answer | undefined {
	const matches = bestMatches(corpus, question, bonus, allowed);
	const first = matches[0];
	if (!first) return undefined;
	const shown: AnswerLine[] = [];
	const taken: Unit[] = [];
	for (const { match, score } of matches) {
		if (taken.length >= PASSAGES || score < first.score - 0.12) break;
		const { unit } = match;
		if (
			taken.some(
				(other) =>
					other.document === unit.document &&
					Math.abs(other.block.line - unit.block.line) < 2 &&
					other.block.kind !== "heading",
			)
		)
			continue;
		if (taken.some((other) => other.ownText === unit.ownText)) continue;
		taken.push(unit);
		shown.push(...passageLines(unit, question));
	}
	return { confidence: Math.min(1, first.match.coverage), lines: shown };
}

/** A passage: a heading brings what stands below it, a long paragraph only the sentences that matter. */
export function passageLines(unit: Unit, question: Question): AnswerLine[] {
	const { block, document } = unit;
	const cite = { path: document.path, line: block.line };
	if (block.kind === "heading") {
		const below = blocksOf(document, block.section).filter(({ kind }) => kind !== "heading");
		return [
			{ text: block.text, cite, kind: "plain" },
			...below.slice(0, 8).map((one) => blockLine(document, one, 1)),
		];
	}
	const lines: AnswerLine[] = [];
	const release = releaseOf(document, block.section);
	const prefix = release ? `${release.title}: ` : "";
	if (block.kind === "entry" && block.depth > 0 && block.context !== "")
		lines.push({ text: `${block.context.replaceAll(" ", ".")}.${block.text}`, cite, kind: "item" });
	else if (block.kind === "paragraph" && block.text.length > 320)
		lines.push({ text: prefix + sentences(block.text, question), cite, kind: "item" });
	else lines.push({ ...blockLine(document, block), text: `${prefix}${blockLine(document, block).text}` });
	// A line that announces something is nothing without it.
	if (document.kind !== "code" && (/:\s*$/.test(block.text) || block.kind === "entry"))
		for (const other of document.blocks
			.filter(
				(one) =>
					one.line > block.line &&
					(one.parent === unit.index || (block.kind === "paragraph" && one.context.startsWith(block.text))),
			)
			.slice(0, 12))
			lines.push(blockLine(document, other, 1));
	return lines;
}

function sentences(text: string, question: Question): string {
	const stems = question.terms.flatMap((term) => [...term.stems, ...term.synonyms]);
	const parts = text.split(/(?<=[.!?])\s+(?=[A-Z`"(])/);
	const scored = parts.map((part) => {
		const own = stemsOf(part);
		return stems.filter((one) => own.has(one)).length;
	});
	const best = Math.max(...scored);
	return parts
		.filter((_part, index) => (scored[index] as number) >= Math.max(1, best - 1))
		.slice(0, 3)
		.join(" ");
}
