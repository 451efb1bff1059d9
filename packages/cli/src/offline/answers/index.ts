/** Chooses how to answer a question, and says plainly when nothing was found. */
import { type Answer, renderAnswer } from "../answer.ts";
import { buildCorpus, type Corpus, type Unit } from "../corpus.ts";
import { analyseQuestion, type Question, type Term } from "../question.ts";
import type { Transcript } from "../transcript.ts";
import { answerCount } from "./counting.ts";
import { answerDefinition } from "./definitions.ts";
import { answerHowTo } from "./how-to.ts";
import { answerList } from "./listing.ts";
import { answerOverview } from "./overview.ts";
import { answerPassages } from "./passages.ts";
import { answerFiles, answerWhere } from "./places.ts";
import { answerChanges, answerLatest, answerWhen, isProjectName } from "./releases.ts";

type Answering = (corpus: Corpus, question: Question, transcript: Transcript) => Answer | undefined;

const valueBonus =
	(question: Question) =>
	({ block }: Unit): number =>
		(question.terms.some(
			(term) => (term.exact || term.named) && block.label.toLowerCase() === term.text.toLowerCase(),
		)
			? 0.25
			: 0) +
		(block.kind === "entry" || block.kind === "row" || block.kind === "item" ? 0.05 : 0) +
		(/\bdefault/i.test(block.text) ? 0.06 : 0) +
		(/\d|`|"|=|: /.test(block.text) ? 0.03 : 0) -
		(block.kind === "heading" ? 0.1 : 0);

const asValue: Answering = (corpus, question) => {
	const answer = answerPassages(
		corpus,
		question,
		valueBonus(question),
		/\bdefault/i.test(question.task) ? saysDefault(question) : undefined,
	);
	return answer;
};

/** A default is only told where the word stands, or where the very name is given a value. */
const saysDefault =
	(question: Question) =>
	({ block, own, around }: Unit): boolean =>
		own.has("default") ||
		own.has("fallback") ||
		around.has("default") ||
		((block.kind === "definition" || block.kind === "entry") &&
			question.terms.some(
				(term) => (term.exact || term.named) && block.label.toLowerCase() === term.text.toLowerCase(),
			) &&
			/[:=]/.test(block.text));

/** "What is <the project>?" asks for an overview. */
const asProject: Answering = (corpus, question) => {
	const telling = question.terms.filter((term) => !term.weak);
	return telling.length === 1 && isProjectName(corpus, (telling[0] as Term).text)
		? answerOverview(corpus, question)
		: undefined;
};

const asPassages: Answering = (corpus, question) => answerPassages(corpus, question);

/** For each kind of question, the ways to answer it in order. */
const WAYS: Record<Question["kind"], readonly Answering[]> = {
	overview: [answerOverview, asPassages],
	list: [
		answerList,
		(_corpus, question, transcript) => answerFiles(question, transcript),
		answerLatest,
		asPassages,
	],
	count: [answerCount, asValue],
	definition: [asProject, answerDefinition, asPassages, answerWhere],
	where: [answerWhere],
	how: [answerHowTo],
	when: [answerWhen, asValue],
	changes: [answerChanges],
	value: [asProject, answerLatest, asValue, answerList, answerDefinition],
	who: [asValue, answerList],
	general: [answerLatest, asPassages, answerDefinition],
};

/** Puts the answer together from what was found. */
export function composeAnswer(transcript: Transcript): string {
	const paths = (transcript.files ?? []).map((file) => file.path);
	const question = analyseQuestion(transcript.task, paths);
	if (question.missingFiles.length > 0 && question.files.length === 0)
		return `There is no ${question.missingFiles.join(" and no ")} here. I looked through ${paths.length} file names.`;
	if (transcript.files === undefined)
		return `I could not list the files${transcript.failures[0] === undefined ? "" : `: ${transcript.failures[0]}`}.`;
	if (paths.length === 0) return "There are no text files here, so there is nothing to answer from.";
	const corpus = buildCorpus(transcript, question);
	for (const way of WAYS[question.kind]) {
		const answer = way(corpus, question, transcript);
		if (answer && answer.lines.length > 0) return renderAnswer(answer.lines);
	}
	return nothingFound(transcript, question);
}

function nothingFound(transcript: Transcript, question: Question): string {
	const telling = question.terms.filter((term) => !term.weak);
	const about = (telling.length > 0 ? telling : question.terms)
		.map((term) => (term.exact ? `\`${term.text}\`` : term.text))
		.join(" ");
	const release = question.versions.length > 0 ? ` in version ${question.versions.join(", ")}` : "";
	const where =
		question.files.length > 0
			? question.files.join(", ")
			: question.directories.length > 0
				? `${question.directories.join(", ")}/`
				: `the ${(transcript.files ?? []).length} files here`;
	const subject = about === "" ? (release === "" ? "that" : "anything") : about;
	const absent = question.terms
		.filter(
			(term) =>
				!term.weak &&
				transcript.searches.some(
					(search) =>
						search.total === 0 &&
						search.pattern
							.toLowerCase()
							.includes((term.exact ? term.text : (term.stems[0] ?? " ")).toLowerCase()),
				),
		)
		.map((term) => `"${term.text}"`);
	const note = absent.length > 0 ? ` No line mentions ${absent.join(" or ")}.` : "";
	return `I found nothing about ${subject}${release} in ${where}.${note}`;
}
