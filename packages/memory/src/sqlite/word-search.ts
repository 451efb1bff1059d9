// Search in a SQLite storage, ranked by FTS5's BM25. A word that most texts contain does not distinguish them, and
// ranking by it would cost the most: it makes a text a match, but adds nothing to its score.
import type { FoundRecord, StoredRecord, WordSearch } from "../storage/index.ts";
import type { Statements } from "./statements.ts";

/** A word is ignored in the score only if more texts than this contain it. */
const many = 5_000;
/** The score of a text that only matches such words. FTS5 never scores other words lower. */
const least = 1e-9;

/** Returns the records that contain a word, best first, newest first among equals. */
export function searchWords(statements: Statements, search: WordSearch): readonly FoundRecord[] {
	const { words, offset, limit } = search;
	const common = commonWords(statements, search);
	if (common.size === 0) return ranked(statements, search, words, offset, limit);
	const significant = words.filter((word) => !common.has(word));
	if (significant.length === 0) return newest(statements, search, anyOf(words), offset, limit);
	const best = ranked(statements, search, significant, offset, limit);
	if (best.length === limit) return best;
	const bests = best.length > 0 ? offset + best.length : countOf(statements, search, significant);
	const others = `(${anyOf([...common])}) NOT (${anyOf(significant)})`;
	const rest = newest(statements, search, others, Math.max(0, offset - bests), limit - best.length);
	return [...best, ...rest];
}

function commonWords(statements: Statements, { kind, words }: WordSearch): ReadonlySet<string> {
	const texts = kind === "entry" ? statements.textsWithEntryWord : statements.textsWithValueWord;
	const records = Number(statements.lastSeq.get()?.seq ?? 0);
	if (records <= many) return new Set();
	return new Set(
		words.filter((word) => {
			const count = Number(texts.get(word)?.doc ?? 0);
			return count > many && count > records / 2;
		}),
	);
}

function ranked(
	statements: Statements,
	{ kind, space }: WordSearch,
	words: readonly string[],
	offset: number,
	limit: number,
): readonly FoundRecord[] {
	const isEntry = kind === "entry";
	const rows =
		space === undefined
			? (isEntry ? statements.rankEntries : statements.rankValues).all(anyOf(words), limit, offset)
			: (isEntry ? statements.rankStream : statements.rankCollection).all(anyOf(words), space, limit, offset);
	return rows.map(foundRecord);
}

function newest(
	statements: Statements,
	{ kind, space }: WordSearch,
	match: string,
	offset: number,
	limit: number,
): readonly FoundRecord[] {
	const isEntry = kind === "entry";
	const rows =
		space === undefined
			? (isEntry ? statements.newestEntries : statements.newestValues).all(match, limit, offset)
			: (isEntry ? statements.newestOfStream : statements.newestOfCollection).all(
					match,
					space,
					limit,
					offset,
				);
	return rows.map((row) => foundRecord({ ...row, score: least }));
}

function countOf(statements: Statements, { kind, space }: WordSearch, words: readonly string[]): number {
	const isEntry = kind === "entry";
	const row =
		space === undefined
			? (isEntry ? statements.countEntries : statements.countValues).get(anyOf(words))
			: (isEntry ? statements.countStream : statements.countCollection).get(anyOf(words), space);
	return Number(row?.texts ?? 0);
}

/** Quotes prevent words from being parsed as operators. */
function anyOf(words: readonly string[]): string {
	return words.map((word) => `"${word}"`).join(" OR ");
}

function foundRecord({ score, ...record }: Record<string, unknown>): FoundRecord {
	return { record: record as unknown as StoredRecord, score: Number(score) };
}
