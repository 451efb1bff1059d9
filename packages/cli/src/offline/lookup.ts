/**
 * Plans the lookups: first a list of the files and a search for every word, in parallel; then looser searches for words
 * without a match; then the files that matter, in pages. For other files, the lines found by the searches are used.
 */
import { type Chunk, kindOf } from "./chunks.ts";
import { isChangelog, rankChunks, termOf } from "./passages.ts";
import { depthOf, type Question, type Word } from "./question.ts";
import { number, type Transcript } from "./read-transcript.ts";

/** A tool call to make. */
export interface PlannedCall {
	readonly name: string;
	readonly params: Record<string, unknown>;
}

/**
 * Maximum number of files read for one question, and maximum size in bytes of a file, and of one that the question
 * names.
 */
const MOST_FILES = 20;
const MOST_BYTES = 100_000;
const MOST_BYTES_NAMED = 4_000_000;
const INTRODUCTIONS = 3;
/** The approximate page size of read_file. */
const PAGE_LINES = 2_000;
const PAGE_BYTES = 120_000;

/** Returns the next calls to make, or none if enough is known. */
export function nextCalls(transcript: Transcript, question: Question): PlannedCall[] {
	const { calls, files, rounds } = transcript;
	const { words, places } = question;
	const search = (what: object): PlannedCall => ({ name: "search_text", params: { ...what, limit: 300 } });
	const searches = words.map((word) => search(searchFor(word)));
	if (rounds === 0) return [{ name: "list_files", params: { limit: 5_000 } }, ...searches];
	const folders = places.filter((place) => !files.has(place));
	const inside = folders.flatMap((path) => words.map((word) => search({ ...searchFor(word), path })));
	// The beginning of a word without a match, in case it is misspelt.
	const beginnings = nowhere(transcript, words).map(({ text }) => text.slice(0, 1 + text.length * 0.6));
	const loose = beginnings.map((pattern) => search({ pattern }));
	const isNew = (call: PlannedCall): boolean => !calls.has(JSON.stringify(call));
	const more = (places.length > 0 ? inside : [...searches, ...loose]).filter(isNew);
	return more.length > 0 ? more : readCalls(transcript, question).filter(isNew);
}

/** Searches for a name verbatim, and for another word by the letters that its forms share. */
function searchFor({ text, kind }: Word): { readonly pattern: string; readonly regex?: true } {
	if (kind !== "word") return { pattern: text };
	const term = termOf(text);
	let shared = 0;
	while (shared < term.length && term[shared] === text[shared]?.toLowerCase()) shared++;
	const pattern = text.slice(0, Math.max(3, shared)).toLowerCase();
	// A pattern this short must match at the start of a word.
	return /^\w{1,3}$/.test(pattern) ? { pattern: `\\b${pattern}`, regex: true } : { pattern };
}

/** Returns the words that no file contains in this form. */
export function nowhere({ searches }: Transcript, words: readonly Word[]): Word[] {
	return words.filter((word) => searches.get(searchFor(word).pattern) === 0);
}

/** Chooses the files to read completely, and those that exceed the limits. */
function chooseFiles(transcript: Transcript, question: Question): Record<"read" | "left", string[]> {
	const most = (path: string): number => (question.places.includes(path) ? MOST_BYTES_NAMED : MOST_BYTES);
	const ranked = rankedFiles(transcript, question);
	const read = ranked.filter((path) => number(transcript.files.get(path)) <= most(path)).slice(0, MOST_FILES);
	return { read, left: ranked.filter((path) => !read.includes(path)) };
}

/** Returns the limits that an answer has to mention. */
export function limitsOf(transcript: Transcript, question: Question): string[] {
	const { read, left } = chooseFiles(transcript, question);
	const remarks = question.ignored.map(({ text }) => `"${text}" was not searched for: too many words.`);
	for (const path of read)
		if (transcript.texts.get(path)?.includes(undefined)) remarks.push(`Not all lines of ${path} were read.`);
	const limits = `${MOST_FILES} files of up to ${MOST_BYTES / 1e3} KB, named ones of up to ${MOST_BYTES_NAMED / 1e3} KB`;
	const ask = `name a file or a folder to search there, such as ${left.slice(0, 3).join(", ")}.`;
	if (left.length > 0)
		remarks.push(`${left.length} more files were only searched (read are ${limits}): ${ask}`);
	return remarks;
}

/** Ranks files by how well their paths and matching lines fit; without words, texts nearest to the root come first. */
function rankedFiles(transcript: Transcript, question: Question): string[] {
	const { files, hits } = transcript;
	const paths = [...files.keys()].filter(insideOf(question));
	const named = question.places.filter((place) => files.has(place));
	if (question.words.length === 0) {
		const rank = (path: string): number =>
			depthOf(path) - (/readme[^/]*$/i.test(path) ? 0.5 : 0) + (isChangelog(path) ? 1.5 : 0);
		const texts = paths.filter((path) => kindOf(path) === "prose");
		texts.sort((one, other) => rank(one) - rank(other));
		return named.length > 0 ? named : texts.slice(0, INTRODUCTIONS);
	}
	const chunks = paths.map((path): Chunk => {
		const lines = (hits.get(path) ?? []).filter((line) => line !== undefined);
		return { path, line: 1, lines, kind: "text", names: "", context: "", section: undefined };
	});
	const ranked = rankChunks(chunks, question, nowhere(transcript, question.words));
	return [...new Set([...named, ...ranked.map(({ chunk }) => chunk.path)])];
}

/** Returns a predicate: whether a path is inside the paths that a question names. */
export function insideOf({ places }: Question): (path: string) => boolean {
	return (path) => places.length === 0 || places.some((place) => `${path}/`.startsWith(`${place}/`));
}

/** Returns the calls for missing pages; the first answer contains the file's line count. */
function readCalls(transcript: Transcript, question: Question): PlannedCall[] {
	return chooseFiles(transcript, question).read.flatMap((path) => {
		const lines = transcript.texts.get(path);
		if (!lines) return [{ name: "read_file", params: { path, from: 1, to: PAGE_LINES } }];
		const perLine = number(transcript.files.get(path)) / lines.length;
		const page = Math.ceil(Math.min(PAGE_LINES, PAGE_BYTES / perLine));
		const calls: PlannedCall[] = [];
		for (let from = 1; from <= lines.length; from++) {
			if (lines[from - 1] !== undefined) continue;
			const to = Math.min(lines.length, from + page - 1);
			calls.push({ name: "read_file", params: { path, from, to } });
			from = to;
		}
		return calls;
	});
}
