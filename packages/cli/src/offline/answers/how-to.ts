/** Answers "how do I …?": the section that is about it, with its commands, and settings that name it. */
import { type Answer, type AnswerLine, blockLine } from "../answer.ts";
import { type Corpus, termIn, type Unit } from "../corpus.ts";
import type { Block, Section } from "../document.ts";
import type { Question, Term } from "../question.ts";
import { stemsOf } from "../words.ts";
import { answerPassages, passageLines, requiredTerms } from "./passages.ts";
import { blocksOf } from "./sections.ts";

const SECTION_BLOCKS = 14;

/** Finds the section that answers a how-to question. */
export function answerHowTo(corpus: Corpus, question: Question): Answer | undefined {
	const terms = requiredTerms(question);
	const telling = terms.filter((term) => !term.weak);
	if (telling.length === 0) return undefined;
	let best: { unit: Unit; score: number } | undefined;
	for (const unit of corpus.units) {
		const { block, document } = unit;
		if (block.kind !== "heading") continue;
		const section = document.sections[block.section] as Section;
		if (section.version !== undefined || section.release >= 0) continue;
		const blocks = blocksOf(document, block.section);
		if (blocks.length === 0) continue;
		const body = blocks
			.slice(0, 40)
			.map(({ text }) => text)
			.join(" ");
		const stems = stemsOf(body);
		const text = body.toLowerCase();
		let total = 0;
		let titled = 0;
		let found = 0;
		for (const term of telling) {
			const weight = corpus.weight(term);
			total += weight;
			const inTitle = termIn(term, unit.own, unit.ownText);
			const above = termIn(term, unit.around, unit.aroundText) * 0.8;
			const inBody = termIn(term, stems, text) * 0.7;
			titled += weight * inTitle;
			found += weight * Math.max(inTitle, above, inBody);
			if (term.exact && Math.max(inTitle, above, inBody) === 0) found -= 10;
		}
		const coverage = found / total;
		const phrased = terms.filter((term) => term.weak && termIn(term, unit.own, unit.ownText) > 0).length;
		if (coverage < 0.66 || titled === 0) continue;
		const nested = blocks.filter((one) => one.kind === "heading").length;
		const score =
			coverage +
			0.08 * phrased +
			0.1 *
				terms.filter((term) => termIn(term, corpus.place(document), document.path.toLowerCase()) > 0).length +
			0.5 * (titled / total) +
			0.15 * (telling.filter((term) => termIn(term, unit.own, unit.ownText) > 0).length / unit.own.size) -
			0.03 * Math.log(1 + blocks.length) -
			0.02 * nested +
			(blocks.some((one) => one.kind === "code") ? 0.08 : 0) -
			(/\b(?:deprecated|legacy|obsolete|old)\b/i.test(unit.block.label) ? 0.25 : 0) -
			0.03 * (unit.own.size - 1) * 0.5 -
			0.06 * document.path.split("/").length;
		if (!best || score > best.score) best = { unit, score };
	}
	const settings = commandEntries(corpus, question);
	if (!best) {
		const passages = answerPassages(
			corpus,
			question,
			({ block }) => (block.kind === "code" || /`|\$ /.test(block.text) ? 0.05 : 0),
			({ document, block }) =>
				document.kind === "prose" || block.kind === "entry" || block.defines === "target",
		);
		if (settings.length === 0) return passages;
		return { confidence: 0.8, lines: [...settings, ...(passages?.lines ?? [])] };
	}
	const { unit } = best;
	const blocks = blocksOf(unit.document, unit.block.section);
	const lines: AnswerLine[] = [
		{ text: unit.block.text, cite: { path: unit.document.path, line: unit.block.line }, kind: "plain" },
		...withPlaces(unit, relevantBlocks(unit, blocks, telling)),
		...settings,
	];
	return { confidence: 0.8, lines };
}

/** Of a long section, what holds the words that its title lacks, each with the code right below it. */
function relevantBlocks(unit: Unit, blocks: readonly Block[], telling: readonly Term[]): readonly Block[] {
	const open = telling.filter((term) => termIn(term, unit.own, unit.ownText) === 0);
	if (blocks.length <= 8 || open.length === 0) return blocks.slice(0, SECTION_BLOCKS);
	const chosen = new Set<Block>();
	for (const [index, block] of blocks.entries()) {
		const stems = stemsOf(block.text);
		if (!open.some((term) => termIn(term, stems, block.text.toLowerCase()) > 0)) continue;
		chosen.add(block);
		const next = blocks[index + 1];
		if (next?.kind === "code") chosen.add(next);
	}
	return chosen.size === 0 ? blocks.slice(0, SECTION_BLOCKS) : [...chosen].slice(0, SECTION_BLOCKS);
}

function withPlaces(unit: Unit, blocks: readonly Block[]): AnswerLine[] {
	return blocks.map((block) => blockLine(unit.document, block, block.kind === "item" ? block.depth : 0));
}

/** Commands in data files whose key is the very thing asked for: a script, a target. */
function commandEntries(corpus: Corpus, question: Question): AnswerLine[] {
	const telling = question.terms.filter((term) => !term.weak);
	return corpus.units
		.filter(({ block, document, own }) => {
			if (
				document.kind !== "data" ||
				block.kind !== "entry" ||
				!/\bscripts?\b|\btasks?\b|\bcommands?\b/i.test(block.context)
			)
				return false;
			const label = stemsOf(block.label);
			return (
				telling.length > 0 &&
				telling.every((term) => termIn(term, own, block.text.toLowerCase()) > 0) &&
				telling.some((term) => termIn(term, label, block.label.toLowerCase()) > 0)
			);
		})
		.sort((left, right) => left.block.label.length - right.block.label.length)
		.slice(0, 4)
		.flatMap((unit) => passageLines(unit, question).slice(0, 1));
}
