/** Assembles an answer from passages or from an introduction; omitted parts are announced. */
import { cutText } from "@holdfast/upp";
import { type Chunk, COMMENT, chunksOf } from "./chunks.ts";
import { insideOf, limitsOf, nowhere } from "./lookup.ts";
import { answersAmong, type Passage, rankChunks, termOf, termsOf } from "./passages.ts";
import type { Question, Word } from "./question.ts";
import type { Transcript } from "./read-transcript.ts";

/** A piece of an answer. One that scores much lower than the first on its page can wait for the next page. */
type Block = Pick<Passage, "score"> & { readonly text: string };

const PAGE_LINES = 80;
const PAGE_BLOCKS = 6;
const NEARLY = 0.8;
const MOST_IN_SECTION = 12;
/** How many lines are shown after a heading, at the start of a file or around the best match. */
const FEW = 4;
const MOST_PASSAGES = 20_000;
const LONGEST = 400;
const MOST_CODE_LINES = 10;
/** Badges, images and HTML at the top of a text. */
const MARKUP = /^(?:\[?!\[|<)/;

/** Composes the answer to a question from the looked-up texts. */
export function composeAnswer(transcript: Transcript, question: Question): string {
	const { words, places, missing } = question;
	const remarks = [...limitsOf(transcript, question), ...transcript.remarks];
	const head = missing.length > 0 ? `${missing.join(", ")} does not exist here. ` : "";
	const end = (text: string): string => [`${head}${head && "\n\n"}${text}`, "", ...remarks].join("\n").trim();
	if (words.length === 0) return end(introduce(transcript, question));
	// Files that were read take precedence over search hits.
	const known = new Map([...transcript.texts, ...transcript.hits, ...transcript.texts]);
	const inside = [...known.keys()].filter(insideOf(question));
	const all = inside.flatMap((path) => chunksOf(path, known.get(path) ?? []));
	const chunks = all.slice(0, MOST_PASSAGES);
	if (chunks.length < all.length) remarks.push(`${chunks.length} of ${all.length} passages were ranked.`);
	const absent = nowhere(transcript, words);
	const ranked = rankChunks(chunks, question, absent);
	const answers = answersAmong(ranked, question);
	const shown = answers.length > 0 ? answers : ranked.slice(0, FEW);
	const blocks = blocksOf(shown, chunks, new Set(words.map(({ text }) => termOf(text))));
	if (answers.length > 0) {
		if (absent.length > 0) remarks.unshift(`${quoted(absent)} does not occur in any file as written here.`);
		return end(paged(blocks, transcript.page));
	}
	const where = places.length > 0 ? places.join(", ") : `the ${counted(transcript.files.size, "file")} here`;
	const nothing = [`${head}I found nothing about ${quoted(words)} in ${where}.`, ...remarks].join(" ");
	if (blocks.length > 0)
		return `${nothing}\n\nThe closest matches:\n${blocks.map(({ text }) => text).join("\n")}`;
	return places.length > 0 ? `${nothing}\n\n${introduce(transcript, question)}` : nothing;
}

function quoted(words: readonly Word[]): string {
	return words.map(({ text }) => `"${text}"`).join(", ");
}

function counted(count: number, noun: string): string {
	return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns one page of the blocks, and how to see the next. */
function paged(blocks: readonly Block[], page: number): string {
	const pages: Block[][] = [];
	let lines = 0;
	for (const block of blocks) {
		const open = pages.at(-1) ?? [];
		const more = block.text.split("\n").length;
		const isWeak = open.length >= PAGE_BLOCKS && block.score < NEARLY * (open[0]?.score ?? 0);
		lines = open.length === 0 || isWeak || lines + more > PAGE_LINES ? more : lines + more;
		if (lines === more) pages.push([block]);
		else open.push(block);
	}
	const shown = (pages[page] ?? [{ text: "There are no more." }]).map(({ text }) => text);
	const left = pages.slice(page + 1).flat().length;
	if (left > 0) shown.push(`\n${counted(left, "more passage")}: ask "more" in this session, or name a file.`);
	return shown.join("\n").trim();
}

/** Groups the passages by section, each section at the position of its best passage; code is not grouped. */
function blocksOf(passages: readonly Passage[], chunks: readonly Chunk[], terms: Set<string>): Block[] {
	const groups = Map.groupBy(passages, ({ chunk }) => `${chunk.path}\n${(chunk.section ?? chunk).line}`);
	const positions = new Map(chunks.map((chunk, position) => [chunk, position]));
	return [...groups.values()].map((group) => {
		const { chunk, score } = group[0] as Passage;
		const { section, path } = chunk;
		let members = group.map((passage) => passage.chunk).filter(({ kind }) => kind !== "heading");
		if (members.length === 0) {
			// A heading alone is of little use: show what follows it too.
			const next = 1 + (positions.get(chunk) ?? 0);
			members = chunks.slice(next, next + FEW).filter((other) => other.section === section);
		}
		const byLine = (left: Chunk, right: Chunk): number => left.line - right.line;
		const shown = members.slice(0, MOST_IN_SECTION).sort(byLine);
		const rest = members.slice(MOST_IN_SECTION).sort(byLine);
		const lines = section ? [`\n${section.trail} (${path}:${section.line})`] : [];
		lines.push(...shown.map((member) => showChunk(member, terms)));
		if (rest.length > 0) lines.push(`${rest.length} more in ${placeOf(rest[0] as Chunk, rest.at(-1))}`);
		return { score, text: lines.join("\n") };
	});
}

/** "path:12-40", or "path:12". */
function placeOf(first: Chunk, last: Chunk = first): string {
	const end = last.line + last.lines.length - 1;
	return `${first.path}:${first.line}${end > first.line ? `-${end}` : ""}`;
}

/**
 * Shows a chunk with its location; of long code, the part around the line with the most terms, preferring code to
 * comments.
 */
function showChunk(chunk: Chunk, terms: Set<string>): string {
	const { path, line, lines, kind } = chunk;
	const place = placeOf(chunk);
	const cut = (text: string): string => {
		const rest = counted(text.length - LONGEST, "more character");
		return text.length > LONGEST ? `${cutText(text, LONGEST)}… (${rest}: ${place})` : text;
	};
	if (kind !== "code" || lines.length === 1) {
		// Removes emphasis, link addresses and table borders.
		const joined = lines.map((one) => one.trim()).join(" ");
		const text = joined.replaceAll("**", "").replace(/^\||\|$/g, "");
		return `${cut(text.replace(/\[([^[\]]*)\]\([^()\s]*\)/g, "$1").trim())} (${path}:${line})`;
	}
	const scores = lines.map((one) => {
		return new Set(termsOf(one).filter((term) => terms.has(term))).size / (COMMENT.test(one) ? 2 : 1);
	});
	const best = scores.indexOf(Math.max(...scores));
	const from = best < MOST_CODE_LINES ? 0 : best - 3;
	const shown = lines.slice(from, from + MOST_CODE_LINES).map(cut);
	const hidden = counted(lines.length - shown.length, "more line");
	const rest = lines.length > shown.length ? ` (${hidden}: ${place})` : "";
	return `${path}:${line + best}${rest}\n\`\`\`\n${shown.join("\n")}\n\`\`\``;
}

/** Introduces a named file, a folder or the project: headings, definitions and the list of files. */
function introduce({ texts: read, files, page }: Transcript, question: Question): string {
	const blocks = [...read].flatMap(([path, lines]) => {
		const chunks = chunksOf(path, lines);
		const isWhole = question.words.length === 0 && question.places.includes(path);
		const texts = chunks.filter(({ kind, lines: [line = ""] }) => kind === "text" && !MARKUP.test(line));
		const first = texts.slice(0, FEW);
		const isShown = (chunk: Chunk): boolean =>
			chunk.kind === "heading" ||
			first.includes(chunk) ||
			(chunk.names.trim() !== "" && chunk.context === "");
		const rest = isWhole ? "." : `; for all of it ask "What does ${path} say?"`;
		const shown = chunks.filter((chunk) => isWhole || isShown(chunk));
		return [
			`\n${path} has ${counted(lines.length, "line")}${rest}`,
			...shown.map((chunk) => showChunk(chunk, new Set())),
		];
	});
	const inside = [...files.keys()].filter(insideOf(question));
	const from = (question.places[0] ?? "").length;
	const names = new Set(inside.map((path) => path.slice(from).replace(/^\//, "").replace(/\/.*/, "/")));
	if (inside.length > read.size) blocks.push(`\n${counted(inside.length, "file")}: ${[...names].join(", ")}`);
	const equal = blocks.map((text) => ({ text, score: 1 }));
	return paged(equal, page);
}
