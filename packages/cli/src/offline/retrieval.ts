/**
 * Plans what to look up: first a list of the files and a search for every telling word, side by side; then
 * the files that matter, in pieces; then nothing more, and the answer is put together.
 */
import { escapeExpression } from "../tools/index.ts";
import { documentKind } from "./document.ts";
import { analyseQuestion, type Question, type Term } from "./question.ts";
import type { ListedFile, Transcript } from "./transcript.ts";
import { stemsOf } from "./words.ts";

/** A tool call to make. */
export interface PlannedCall {
	readonly name: string;
	readonly params: Record<string, unknown>;
}

const SEARCHES = 8;
const PAGE_LINES = 2_000;
/** What is read for one task, in bytes; enough for a very long file, little enough to stay quick. */
const NAMED_BYTES = 6_000_000;
const FOUND_BYTES = 1_200_000;
const WHOLE_FILE_BYTES = 400_000;
const FOUND_FILES = 14;
const BASE_FILES = 12;
const BASE_FILE_BYTES = 100_000;
const WINDOW_LINES = 60;

/** The next calls to make for the task, or none when enough is known. */
export function planCalls(transcript: Transcript): PlannedCall[] {
	if (transcript.calls.length === 0) return firstCalls(transcript.task);
	if (transcript.files === undefined) return [];
	const question = analyseQuestion(
		transcript.task,
		transcript.files.map((file) => file.path),
	);
	const asked = new Set(
		transcript.calls
			.filter(({ name }) => name === "read_file")
			.map(({ params }) => `${params.path} ${params.from}`),
	);
	if (asked.size === 0) return chooseReads(transcript, question).map(readCall);
	return readOn(transcript, question, asked).map(readCall);
}

function firstCalls(task: string): PlannedCall[] {
	const question = analyseQuestion(task, []);
	const terms = question.terms.filter((term) => !term.weak);
	const telling = (terms.length > 0 ? terms : question.terms).slice(0, SEARCHES);
	return [
		{ name: "list_files", params: { limit: 5000 } },
		...telling.map((term) => ({ name: "search_text", params: { ...searchFor(term), limit: 300 } })),
	];
}

/** A term as a search: names as they are, words by their stem and the words of the same meaning. */
export function searchFor(term: Term): { pattern: string; regex?: true } {
	// A member is defined by its own name alone, inside its owner.
	if (term.exact)
		return {
			pattern: /^[\w$]+(?:(?:\.|::|#|->)[\w$]+)+$/.test(term.text)
				? term.text.replace(/^.*(?:\.|::|#|->)/, "")
				: term.text,
		};
	if (term.stems.length > 1) return { pattern: term.text };
	const stems = [term.stems[0] as string, ...term.synonyms].map((stem) => {
		const open = stem.endsWith("i") && stem.length > 4 ? stem.slice(0, -1) : stem;
		// A short stem must at least begin a word; an even shorter one must be it.
		if (open.length < 3) return `\\b${escapeExpression(open)}\\b`;
		return open.length < 4 ? `\\b${escapeExpression(open)}` : escapeExpression(open);
	});
	return { pattern: [...new Set(stems)].join("|"), regex: true };
}

interface PlannedRead {
	readonly path: string;
	readonly from: number;
	readonly to: number;
	/** This is the first page of a file that is wanted to its end. */
	readonly whole?: boolean;
}

function readCall(read: PlannedRead): PlannedCall {
	return { name: "read_file", params: { path: read.path, from: read.from, to: read.to } };
}

function chooseReads(transcript: Transcript, question: Question): PlannedRead[] {
	const files = transcript.files ?? [];
	const sizes = new Map(files.map((file) => [file.path, file.size]));
	const reads: PlannedRead[] = [];
	let budget = NAMED_BYTES;
	for (const path of question.files.slice(0, 6)) {
		const size = sizes.get(path) ?? 0;
		if (size > budget) reads.push({ path, from: 1, to: PAGE_LINES }, ...windows(transcript, path));
		else reads.push({ path, from: 1, to: PAGE_LINES, whole: true });
		budget -= size;
	}
	if (reads.length > 0) return reads;
	const chosen = new Set<string>();
	for (const path of baseFiles(files, question)) chosen.add(path);
	budget = FOUND_BYTES;
	for (const path of isHopeless(transcript, question) ? [] : rankFiles(transcript, question)) {
		if (reads.length + chosen.size >= FOUND_FILES + BASE_FILES) break;
		if (chosen.has(path)) continue;
		const size = sizes.get(path) ?? 0;
		if (size <= WHOLE_FILE_BYTES && size <= budget) {
			chosen.add(path);
			budget -= size;
		} else reads.push(...windows(transcript, path).slice(0, 8));
	}
	return [...[...chosen].map((path) => ({ path, from: 1, to: PAGE_LINES, whole: true })), ...reads];
}

/** Whether no file can help: an overview needs none, and a name that nobody mentions is nowhere. */
function isHopeless(transcript: Transcript, question: Question): boolean {
	if (question.kind === "overview") return true;
	return question.terms.some(
		(term) =>
			term.exact &&
			transcript.searches.some((search) => search.pattern === searchFor(term).pattern && search.total === 0),
	);
}

/** Texts and settings at the top of the project: they answer most questions about the whole. */
function baseFiles(files: readonly ListedFile[], question: Question): string[] {
	const directory = question.directories[0];
	const top = files.filter(({ path, size }) => {
		const inside =
			directory === undefined
				? path
				: path.startsWith(`${directory}/`)
					? path.slice(directory.length + 1)
					: "/";
		return !inside.includes("/") && size <= BASE_FILE_BYTES && size > 0;
	});
	const kinds = ["prose", "data"];
	return top
		.filter(({ path }) => (documentKind(path) !== "code" || !path.includes(".")) && !/\block\b/i.test(path))
		.sort(
			(left, right) =>
				kinds.indexOf(documentKind(left.path)) - kinds.indexOf(documentKind(right.path)) ||
				left.size - right.size,
		)
		.slice(0, BASE_FILES)
		.map(({ path }) => path);
}

/** Files by how many of the telling words they hold, the rare ones counting most. */
function rankFiles(transcript: Transcript, question: Question): string[] {
	const total = Math.max(1, ...transcript.searches.map((search) => search.searched));
	const scores = new Map<string, number>();
	for (const search of transcript.searches) {
		const rarity = Math.log(1 + total / (search.files.size + 0.5));
		for (const [path, hits] of search.files)
			scores.set(
				path,
				(scores.get(path) ?? 0) + rarity * (0.6 + 0.4 * Math.min(1, Math.log(1 + hits) / Math.log(20))),
			);
	}
	const wanted = question.terms.filter((term) => !term.weak);
	for (const { path } of transcript.files ?? []) {
		const stems = stemsOf(path);
		const named = wanted.filter(
			(term) => term.stems.length > 0 && term.stems.every((stem) => stems.has(stem)),
		).length;
		if (named > 0) scores.set(path, (scores.get(path) ?? 0) + 2.5 * named);
	}
	const directory = question.directories[0];
	const ranked = [...scores]
		.filter(([path]) => directory === undefined || path.startsWith(`${directory}/`))
		.map(([path, score]) => ({ path, score: (isAside(path) ? 0.6 : 1) * score + prior(path, question) }))
		.sort((left, right) => right.score - left.score || (left.path < right.path ? -1 : 1));
	const best = ranked[0]?.score ?? 0;
	return ranked
		.filter(({ score }) => score >= 0.4 * best)
		.slice(0, FOUND_FILES)
		.map(({ path }) => path);
}

/** Tests, examples and what was built say less than the thing itself. */
function isAside(path: string): boolean {
	return /(?:^|\/)(?:tests?|__tests__|spec|fixtures?|examples?|dist|build|vendor|third_party|generated|bench(?:marks)?)(?:\/|$)|\.(?:test|spec)\.|\.d\.[cm]?ts$/i.test(
		path,
	);
}

function prior(path: string, question: Question): number {
	const depth = path.split("/").length - 1;
	const kind = documentKind(path);
	const wantsCode =
		question.kind === "where" ||
		(question.kind === "definition" && question.terms.some((term) => term.exact));
	const nature = kind === "prose" ? 1.2 : kind === "data" ? 0.5 : wantsCode ? 1.4 : 0.3;
	const aside = isAside(path) ? 0.8 : 0;
	return nature - aside - 0.1 * depth;
}

/** Pieces of a long file around the lines that searches found. */
function windows(transcript: Transcript, path: string): PlannedRead[] {
	const lines = transcript.searches
		.filter((search) => search.total < 2_000)
		.flatMap((search) => search.shown.get(path) ?? [])
		.sort((left, right) => left - right);
	const reads: { path: string; from: number; to: number }[] = [];
	for (const line of lines) {
		const last = reads.at(-1);
		const from = Math.max(1, line - WINDOW_LINES);
		if (last && from <= last.to + 1) last.to = Math.min(line + WINDOW_LINES, last.from + PAGE_LINES - 1);
		else reads.push({ path, from, to: line + WINDOW_LINES });
	}
	return reads.slice(0, 20);
}

/** The rest of files whose first page was read and which are wanted whole. */
function readOn(transcript: Transcript, question: Question, asked: ReadonlySet<string>): PlannedRead[] {
	const reads: PlannedRead[] = [];
	// The plan follows from the searches alone, so it is the same now as when it was made.
	const whole = new Set(
		chooseReads(transcript, question).flatMap((read) => (read.whole === true ? [read.path] : [])),
	);
	for (const text of transcript.texts.values()) {
		if (!whole.has(text.path)) continue;
		for (let at = 0; at < text.total; at++) {
			if (text.lines[at] !== undefined) continue;
			const from = at + 1;
			let to = at;
			while (to < text.total && text.lines[to] === undefined) to++;
			for (let start = from; start <= to; start += PAGE_LINES)
				if (!asked.has(`${text.path} ${start}`))
					reads.push({ path: text.path, from: start, to: Math.min(to, start + PAGE_LINES - 1) });
			at = to;
		}
	}
	return reads.slice(0, 40);
}
