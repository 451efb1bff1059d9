/** Answers about releases: what changed in one, when something came, which is the newest. */
import { type Answer, type AnswerLine, blockLine } from "../answer.ts";
import { type Corpus, matchUnit, projectNames } from "../corpus.ts";
import { releaseOf, type Section, type SourceDocument } from "../document.ts";
import type { Question } from "../question.ts";
import { isLooseModifier, isWeakWord, stem } from "../words.ts";
import { answerList } from "./listing.ts";
import { bestMatches, requiredTerms } from "./passages.ts";
import { askedReleases, blocksOf, releasesOf, sectionLines } from "./sections.ts";

/** Words for changes of any kind: a question that has no others wants the whole release. */
const ANY_CHANGE: ReadonlySet<string> = new Set(
	"change new update differ difference happen release improve improvement thing feature note content version item modify modification information"
		.split(" ")
		.map(stem),
);

/** "What changed in 2.0?": that release, or the part of it that the question is about. */
export function answerChanges(corpus: Corpus, question: Question): Answer | undefined {
	const found = documentsWithReleases(corpus, question);
	if (found.length === 0) return undefined;
	const special = question.terms.filter(
		(term) =>
			!isLooseModifier(term.text) &&
			!isWeakWord(term.text) &&
			!term.stems.every((one) => ANY_CHANGE.has(one)) &&
			!isProjectName(corpus, term.text),
	);
	if (special.length > 0) {
		const listed = answerList(corpus, question);
		if (listed) return listed;
		const matches = bestMatches(corpus, question).filter(({ match }) =>
			found.some(
				({ document, release }) =>
					match.unit.document === document &&
					releaseOf(document, match.unit.block.section) === document.sections[release],
			),
		);
		const best = matches[0];
		if (best)
			return {
				confidence: 0.7,
				lines: matches
					.filter(({ score }) => score > best.score - 0.15)
					.slice(0, 10)
					.map(({ match }) => blockLine(match.unit.document, match.unit.block)),
			};
		return undefined;
	}
	const listed = question.focus.some((word) => !ANY_CHANGE.has(stem(word)) || /feature/i.test(word))
		? answerList(corpus, question)
		: undefined;
	if (listed && listed.confidence >= 0.6) return listed;
	const lines: AnswerLine[] = [];
	for (const { document, release } of found) {
		const section = document.sections[release] as Section;
		const blocks = blocksOf(document, release);
		lines.push(
			{ text: section.title, cite: { path: document.path, line: section.line }, kind: "title" },
			...sectionLines(document, blocks),
		);
		if (blocks.length === 0) lines.push({ text: "Nothing is written below this heading.", kind: "plain" });
	}
	return { confidence: 0.9, lines };
}

/** Is this word the name of the project itself? */
export function isProjectName(corpus: Corpus, word: string): boolean {
	return projectNames(corpus.documents).has(word.toLowerCase());
}

function documentsWithReleases(
	corpus: Corpus,
	question: Question,
): { document: SourceDocument; release: number }[] {
	const all = corpus.documents
		.filter((document) => question.files.length === 0 || question.files.includes(document.path))
		.map((document) => ({ document, releases: askedReleases(document, question) }))
		.filter(({ releases }) => releases.length > 0);
	// The nearest document with such a release is meant, unless several were named.
	const nearest = Math.min(...all.map(({ document }) => document.path.split("/").length));
	return all
		.filter(({ document }) => question.files.length > 0 || document.path.split("/").length === nearest)
		.sort((left, right) => releasesOf(right.document).length - releasesOf(left.document).length)
		.slice(0, question.files.length > 0 ? 3 : 1)
		.flatMap(({ document, releases }) => releases.slice(0, 12).map((release) => ({ document, release })));
}

/** "When was X added?", "When was 2.0 released?": the release, with its date, that says so. */
export function answerWhen(corpus: Corpus, question: Question): Answer | undefined {
	const telling = question.terms.filter((term) => !term.weak && !isProjectName(corpus, term.text));
	if (
		(question.versions.length > 0 || question.latest) &&
		telling.filter((term) => !/^date$/i.test(term.text)).length === 0
	) {
		const lines = documentsWithReleases(corpus, question).map(({ document, release }): AnswerLine => {
			const section = document.sections[release] as Section;
			const first = blocksOf(document, release)[0];
			const dated = /\d{4}|\d{1,2}[/.]\d{1,2}/.test(section.title.replace(section.version ?? "", ""));
			const note = !dated && first && /\b\d{4}\b/.test(first.text) ? ` — ${first.text.slice(0, 80)}` : "";
			return {
				text: `${section.title}${note}`,
				cite: { path: document.path, line: section.line },
				kind: "item",
			};
		});
		return lines.length > 0 ? { confidence: 0.9, lines } : undefined;
	}
	if (telling.length === 0) return undefined;
	const terms = requiredTerms(question);
	const wanted = [...telling, ...terms.slice(question.terms.length)];
	const verbs = new Set(
		question.terms
			.filter(
				(term) => term.weak || /^(?:add|introduc|remov|drop|deprec|fix|chang|renam|support)/i.test(term.text),
			)
			.flatMap((term) => [...term.stems, ...term.synonyms]),
	);
	const matches = corpus.units
		.filter(
			({ document, block }) => block.kind !== "heading" && releaseOf(document, block.section) !== undefined,
		)
		.map((unit) => ({ unit, match: matchUnit(corpus, unit, wanted), all: matchUnit(corpus, unit, terms) }))
		.filter(
			({ match }) =>
				match.coverage >= 0.72 &&
				match.own >= 0.5 &&
				match.missing.every((term) => !term.exact && term.proper !== true),
		)
		.map(({ unit, match, all }) => ({
			unit,
			score:
				match.coverage +
				0.2 * match.own +
				0.2 * all.coverage +
				([...verbs].some((verb) => unit.own.has(verb) || unit.around.has(verb)) ? 0.15 : 0) -
				0.03 * Math.log(1 + unit.own.size),
		}))
		.sort((left, right) => right.score - left.score || right.unit.block.line - left.unit.block.line);
	const first = matches[0];
	if (!first) return undefined;
	const lines = matches
		.filter(({ score }) => score > first.score - 0.12)
		.slice(0, 5)
		.flatMap(({ unit }): AnswerLine[] => {
			const release = releaseOf(unit.document, unit.block.section) as Section;
			return [
				{ text: release.title, cite: { path: unit.document.path, line: release.line }, kind: "plain" },
				blockLine(unit.document, unit.block, 1),
			];
		});
	return { confidence: 0.8, lines };
}

/** "What is the latest version?", "What version is this?" */
export function answerLatest(corpus: Corpus, question: Question): Answer | undefined {
	const asksVersion = question.versions.length === 0 && /\b(?:version|release)\b/i.test(question.task);
	if (!question.latest && !asksVersion) return undefined;
	if (question.terms.some((term) => !term.weak && !isProjectName(corpus, term.text))) return undefined;
	const lines: AnswerLine[] = corpus.units
		.filter(
			({ block, document }) =>
				block.kind === "entry" &&
				block.depth <= 1 &&
				/^version$/i.test(block.label) &&
				!document.path.includes("/") &&
				/\d/.test(block.text),
		)
		.slice(0, 3)
		.map(({ document, block }) => blockLine(document, block));
	for (const { document, release } of documentsWithReleases(corpus, { ...question, latest: true })) {
		const section = document.sections[release] as Section;
		lines.push({ text: section.title, cite: { path: document.path, line: section.line }, kind: "item" });
	}
	return lines.length > 0 ? { confidence: 0.9, lines } : undefined;
}

/** How many releases a document has, when that is what is counted. */
export function countReleases(corpus: Corpus, question: Question): Answer | undefined {
	if (!question.focus.some((word) => /^(?:versions?|releases?)$/i.test(word))) return undefined;
	const counted = corpus.documents.map((document) => ({
		document,
		count: releasesOf(document).filter((index) => document.sections[index]?.version !== "unreleased").length,
	}));
	const most = counted
		.filter(
			({ count, document }) =>
				count > 0 && (question.files.length === 0 || question.files.includes(document.path)),
		)
		.sort((left, right) => right.count - left.count)[0];
	if (!most) return undefined;
	const releases = releasesOf(most.document).map((index) => most.document.sections[index] as Section);
	const last = releases.at(-1) as Section;
	const first = releases[0] as Section;
	return {
		confidence: 0.85,
		lines: [
			{
				text: `${most.count} releases have a heading in ${most.document.path}, from ${last.title} to ${first.title}.`,
				kind: "plain",
			},
			{ text: first.title, cite: { path: most.document.path, line: first.line }, kind: "item" },
			{ text: last.title, cite: { path: most.document.path, line: last.line }, kind: "item" },
		],
	};
}
