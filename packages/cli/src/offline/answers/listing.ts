/**
 * Answers "which X does FILE list?": finds where the project lists X (a heading, a label, a key, a table, a
 * sentence that announces a list, definitions) and returns everything listed there, grouped by release or
 * heading.
 */
import type { Answer, AnswerLine } from "../answer.ts";
import type { Corpus } from "../corpus.ts";
import type { Question } from "../question.ts";
import { definitionsOfKind } from "./definitions.ts";
import { readFocus } from "./focus.ts";
import { type Place, placesIn } from "./list-places.ts";

/** What was listed, and how many things. */
export interface Listing extends Answer {
	readonly count: number;
}

/** Lists what the question asks for, or nothing when no place lists it. */
export function answerList(corpus: Corpus, question: Question): Listing | undefined {
	const focus = readFocus(question);
	if (!focus) return undefined;
	const kinds = definitionsOfKind(corpus, question, focus.words);
	if (kinds) return { ...kinds, count: kinds.lines.length - 1 };
	const places = corpus.documents.flatMap((document) => placesIn(corpus, document, question, focus));
	const best = Math.max(0, ...places.map((place) => place.quality));
	if (best < 0.45) return undefined;
	const bestPlaces = places.filter((place) => place.quality >= best - 0.12);
	const documents = new Set(
		question.files.length > 0
			? bestPlaces.map((place) => place.document)
			: [bestPlaces.reduce((one, other) => (other.quality > one.quality + 0.02 ? other : one)).document],
	);
	const chosen = places.filter(
		(place) =>
			documents.has(place.document) &&
			(place.quality >= best - 0.12 ||
				(place.released && (place.how === "label" || place.how === "section"))),
	);
	const main = dropNested(chosen.filter((place) => best < 0.6 || place.how !== "mention"));
	const seen = (place: Place): boolean =>
		main.some((one) => one.document === place.document && place.from >= one.from && place.from <= one.to);
	const mentions =
		best < 0.6
			? []
			: places
					.filter((place) => place.how === "mention" && documents.has(place.document) && !seen(place))
					.slice(0, 10);
	return compose(question, main, mentions, best);
}

function dropNested(places: readonly Place[]): Place[] {
	const rank = { section: 0, key: 0, lead: 1, label: 2, definition: 2, mention: 3 };
	const kept: Place[] = [];
	for (const place of [...places].sort(
		(left, right) =>
			rank[left.how] - rank[right.how] ||
			right.quality - left.quality ||
			left.from - right.from ||
			right.to - left.to,
	))
		if (
			!kept.some((one) => one.document === place.document && place.from >= one.from && place.from <= one.to)
		)
			kept.push(place);
	return kept.sort((left, right) =>
		left.document === right.document
			? left.from - right.from
			: left.document.path < right.document.path
				? -1
				: 1,
	);
}

function compose(
	question: Question,
	main: readonly Place[],
	mentions: readonly Place[],
	best: number,
): Listing {
	const count = main.reduce((sum, place) => sum + place.count, 0);
	const paths = [...new Set(main.map((place) => place.document.path))];
	const groups = new Set(main.map((place) => place.group?.text)).size;
	const phrase = question.focus.join(" ");
	const head = `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)} in ${paths.join(", ")}${count > 1 ? ` (${count}${groups > 1 ? ` in ${groups} sections` : ""})` : ""}:`;
	const lines: AnswerLine[] = [{ text: head, kind: "plain" }];
	let group: string | undefined;
	for (const place of main) {
		const key = `${place.document.path}:${place.group?.cite?.line}`;
		if (place.group && key !== group) lines.push(place.group);
		group = key;
		lines.push(...place.lines);
	}
	if (mentions.length > 0) {
		lines.push({ text: "Also mentioned:", kind: "title" });
		for (const place of mentions) lines.push(...place.lines);
	}
	return { confidence: best, lines, count };
}
