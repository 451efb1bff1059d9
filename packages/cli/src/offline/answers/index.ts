/** Chooses how to answer a question, and says plainly when nothing was found. */
import { escapeExpression } from "../../tools/index.ts";
import { type Answer, renderAnswer } from "../answer.ts";
import { buildCorpus, type Corpus, parseAll, projectNames, type Unit } from "../corpus.ts";
import { analyseQuestion, type Question, type Term, withoutProjectNames } from "../question.ts";
import { searchFor } from "../retrieval.ts";
import type { Transcript } from "../transcript.ts";
import { isLooseModifier, isWeakWord, stem, stemsOf, wordsOf } from "../words.ts";
import { answerCount } from "./counting.ts";
import { answerDefinition, answerMembers } from "./definitions.ts";
import { has, phraseIn } from "./focus.ts";
import { answerHowTo } from "./how-to.ts";
import { answerList } from "./listing.ts";
import { answerOutline, answerOverview } from "./overview.ts";
import { answerPassages } from "./passages.ts";
import { answerFiles, answerWhere } from "./places.ts";
import { answerChanges, answerLatest, answerWhen, isProjectName } from "./releases.ts";

type Answering = (corpus: Corpus, question: Question, transcript: Transcript) => Answer | undefined;

/** What looks like a value ranks higher, most of all where the very name asked for is given one. */
const valueBonus =
	(question: Question) =>
	({ block, document }: Unit): number => {
		const names = question.terms
			.filter((term) => term.exact || term.named)
			.map((term) => term.text.toLowerCase());
		const title = document.sections[block.section]?.title.toLowerCase() ?? "";
		const labelled = names.some(
			(name) => block.label.toLowerCase() === name || title === name || title.replace(/^.*[.]/, "") === name,
		);
		const file = document.path
			.replace(/^.*\//, "")
			.replace(/\.[^.]*$/, "")
			.toLowerCase();
		return (
			(names.includes(file) ? 0.3 : 0) +
			(labelled && block.kind !== "heading" ? 0.3 : 0) +
			(block.kind === "entry" &&
			block.depth <= 1 &&
			question.terms.some((term) => !term.weak && block.label.toLowerCase() === term.text.toLowerCase())
				? 0.2
				: 0) +
			(labelled && /[:=]\s*(?:[-\d'"`[{]|true\b|false\b|null\b|none\b|infinity\b)/i.test(block.text)
				? 0.05
				: 0) +
			(block.kind === "entry" || block.kind === "row" || block.kind === "item" ? 0.05 : 0) +
			(/\bdefaults?(?: to|\s*[:=]|\b.{0,20}\bis\b)/i.test(block.text) ? 0.1 : 0) +
			(/\d|`|"|=|: /.test(block.text) ? 0.03 : 0) -
			(block.kind === "heading" ? 0.1 : 0)
		);
	};

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
		(own.has("default") && stemsOf(block.text.replace(/\bexport default\b/g, "")).has("default")) ||
		givesDefault(block.text, question) ||
		own.has("fallback") ||
		around.has("default") ||
		(((block.kind === "definition" && /constant|property/.test(block.defines ?? "")) ||
			block.kind === "entry") &&
			question.terms.some(
				(term) => (term.exact || term.named) && block.label.toLowerCase() === term.text.toLowerCase(),
			) &&
			/[:=]/.test(block.text));

/** `timeout = 30` or `timeout: number = 30`: a literal value given to the very name. */
function givesDefault(text: string, question: Question): boolean {
	return question.terms.some(
		(term) =>
			(term.exact || term.named === true) &&
			new RegExp(
				`\\b${escapeExpression(term.text)}\\??\\s*(?::[^=,)]{1,40})?=\\s*(?:["'\`\\d]|-\\d|true\\b|false\\b|null\\b|none\\b)`,
				"i",
			).test(text),
	);
}

/** A question for a default is not answered by anything else that is known of the name. */
function unlessDefault(way: Answering): Answering {
	return (corpus, question, transcript) =>
		/\bdefault/i.test(question.task) ? undefined : way(corpus, question, transcript);
}

/** People are told by names and addresses. */
const asPerson: Answering = (corpus, question) =>
	answerPassages(
		corpus,
		question,
		(unit) =>
			valueBonus(question)(unit) +
			(/<[^>\s]+@[^>\s]+>|(?<!^)\b\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+|https?:\/\/github\.com\/\w+\)?$/u.test(
				unit.block.text,
			)
				? 0.15
				: 0),
		({ document, block }) => document.kind !== "code" || block.kind !== "code",
	);

/** "What is <the project>?" asks for an overview. */
const asProject: Answering = (corpus, question) => {
	const telling = question.terms.filter((term) => !term.weak);
	return telling.length === 1 && isProjectName(corpus, (telling[0] as Term).text)
		? answerOverview(corpus, question)
		: undefined;
};

const asPassages: Answering = (corpus, question) => answerPassages(corpus, question);

/** What texts for people say, code left out. */
const asTold: Answering = (corpus, question) =>
	answerPassages(corpus, question, undefined, ({ document }) => document.kind === "prose");

/** Where nothing is laid out as the list asked for, the passages about it come before mere mentions. */
const asList: Answering = (corpus, question, transcript) => {
	const outline = answerOutline(corpus, question);
	if (outline) return outline;
	const members = answerMembers(corpus, question);
	if (members) return members;
	const listed = answerList(corpus, question);
	if (listed && (listed.confidence >= 0.6 || question.files.length > 0)) return listed;
	const needed = question.focus
		.flatMap(wordsOf)
		.filter((word) => !isLooseModifier(word))
		.filter((word, _index, words) => !isWeakWord(word) || words.every(isWeakWord))
		.map(stem);
	const about = ({ block, own, document }: Unit): boolean => {
		const title = stemsOf(document.sections[block.section]?.title ?? "");
		if (!needed.every((one) => has(own, one) || has(title, one))) return false;
		return question.files.length === 0 || phraseIn(block.text, question.focus);
	};
	return (
		answerFiles(question, transcript) ??
		answerPassages(corpus, question, valueBonus(question), about) ??
		listed
	);
};

/** For each kind of question, the ways to answer it in order. */
const WAYS: Record<Question["kind"], readonly Answering[]> = {
	overview: [answerOverview, asPassages],
	list: [asList, answerLatest],
	count: [answerCount],
	definition: [asProject, answerDefinition, asPassages, answerWhere],
	where: [answerWhere],
	how: [answerHowTo],
	when: [answerWhen, asTold],
	changes: [answerChanges],
	value: [asProject, answerLatest, asValue, unlessDefault(answerList), unlessDefault(answerDefinition)],
	who: [asPerson, answerList],
	general: [answerLatest, asPassages, answerDefinition],
};

/** Puts the answer together from what was found. */
export function composeAnswer(transcript: Transcript): string {
	const paths = (transcript.files ?? []).map((file) => file.path);
	const asked = analyseQuestion(transcript.task, paths);
	if (asked.missingFiles.length > 0 && asked.files.length === 0)
		return `There is no ${asked.missingFiles.join(" and no ")} here. I looked through ${paths.length} file names.`;
	if (transcript.files === undefined)
		return `I could not list the files${transcript.failures[0] === undefined ? "" : `: ${transcript.failures[0]}`}.`;
	if (paths.length === 0) return "There are no text files here, so there is nothing to answer from.";
	const documents = parseAll(transcript);
	const question = withoutProjectNames(asked, projectNames(documents));
	const corpus = buildCorpus(documents, question);
	for (const way of WAYS[question.kind]) {
		const answer = way(corpus, question, transcript);
		if (answer && answer.lines.length > 0) return renderAnswer(answer.lines);
	}
	return nothingFound(transcript, question);
}

function searchedAs(term: Term): string {
	return searchFor(term).pattern.split("|")[0]?.replace(/\\b/g, "") ?? term.text;
}

function allFiles({ files = [] }: Transcript): string {
	return files.length === 1 ? "the only file here" : `the ${files.length} files here`;
}

function nothingFound(transcript: Transcript, question: Question): string {
	const telling = question.terms.filter((term) => !term.weak);
	const about = (telling.length > 0 ? telling : question.terms)
		.map((term) => (term.exact ? `\`${term.text}\`` : term.text))
		.join(" ");
	if (telling.length === 0 && question.versions.length > 0)
		return `I found nothing about a version ${question.versions.join(", ")} in ${question.files.length > 0 ? question.files.join(", ") : allFiles(transcript)}.`;
	const release = question.versions.length > 0 ? ` in version ${question.versions.join(", ")}` : "";
	const where =
		question.files.length > 0
			? question.files.join(", ")
			: question.directories.length > 0
				? `${question.directories.join(", ")}/`
				: allFiles(transcript);
	const subject = about === "" ? (release === "" ? "that" : "anything") : about;
	const absent = question.terms
		.filter(
			(term) =>
				!term.weak &&
				transcript.searches.some(
					(search) =>
						search.total === 0 && search.pattern.split("|")[0]?.replace(/\\b/g, "") === searchedAs(term),
				),
		)
		.map((term) => `"${term.text}"`);
	const note = absent.length > 0 ? ` No line mentions ${absent.join(" or ")}.` : "";
	const large = Math.max(0, ...transcript.searches.map(({ tooLarge }) => tooLarge));
	const unread =
		large === 0 ? "" : ` ${large === 1 ? "1 file is" : `${large} files are`} too large to search.`;
	return `I found nothing about ${subject}${release} in ${where}.${note}${unread}`;
}
