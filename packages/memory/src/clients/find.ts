// Searches one kind of records: by words, and by vectors if there is a model. A storage with an index answers from it;
// encrypted values have no index, so all of them are read and ranked here.
import { type Embedder, fused, queryWords, similarity, WordIndex } from "../search/index.ts";
import type { FoundRecord, Kind, Storage, StoredRecord } from "../storage/index.ts";
import type { RecordCodec } from "./record-codec.ts";
import type { Retained } from "./retained.ts";

/** The context of a search. */
export interface SearchParts {
	readonly storage: Storage;
	readonly codec: RecordCodec;
	readonly retained: Retained;
	readonly embedder: Embedder | undefined;
}

/** The search query. */
export interface Wanted {
	readonly kind: Kind;
	readonly text: string;
	readonly topK: number;
	/** The name in its stored form. */
	readonly space: string | undefined;
	/** Whether the caller may read a space. */
	allows(space: string): boolean;
}

/** A match: a record and its value. */
export interface Match extends FoundRecord {
	readonly value: unknown;
}

/** Minimum number of records per ranking that are merged. */
const fewest = 50;

/** Returns the matches, best first, newest first among equals. */
export async function find(parts: SearchParts, wanted: Wanted): Promise<readonly Match[]> {
	const words = queryWords(wanted.text);
	const vector = await parts.embedder?.vectorOf(wanted.text);
	if (wanted.topK === 0 || (words.length === 0 && vector === undefined)) return [];
	const { storage, codec } = parts;
	const { search } = storage;
	const isIndexed = codec.keyRing === undefined && search !== undefined;
	const depth = vector === undefined ? wanted.topK : Math.max(fewest, wanted.topK * 4);
	let byWords: readonly FoundRecord[] = [];
	let byVector: readonly FoundRecord[] = [];
	if (isIndexed && words.length > 0) {
		const query = { kind: wanted.kind, space: wanted.space, words };
		byWords = await readOn(parts, wanted, depth, (page) => search.call(storage, { ...query, ...page }));
	}
	if (!isIndexed || vector !== undefined) {
		const scanned = await scan(parts, wanted, isIndexed ? [] : words, vector);
		if (!isIndexed) byWords = scanned.byWords.slice(0, depth);
		byVector = scanned.byVector.slice(0, depth);
	}
	const best = vector === undefined ? byWords : joined(byWords, byVector);
	return best.slice(0, wanted.topK).map((found) => ({ ...found, value: codec.valueOf(found.record) }));
}

function joined(byWords: readonly FoundRecord[], byVector: readonly FoundRecord[]): readonly FoundRecord[] {
	const records = [byWords, byVector].map((ranking) => ranking.map(({ record }) => record));
	return fused(records).map(({ item, score }) => ({ record: item, score }));
}

/** Reads an index further until it has enough records that are retained and that the caller may read. */
async function readOn(
	{ retained }: SearchParts,
	{ allows }: Wanted,
	depth: number,
	read: (page: { readonly offset: number; readonly limit: number }) => Promise<readonly FoundRecord[]>,
): Promise<readonly FoundRecord[]> {
	const keeps = retained.filter();
	const found: FoundRecord[] = [];
	// Doubled each time, so that hidden records cost at most twice their reading.
	for (let offset = 0, limit = depth; ; offset += limit, limit *= 2) {
		const page = await read({ offset, limit });
		for (const each of page) {
			if (!allows(each.record.space) || !(await keeps(each.record))) continue;
			found.push(each);
			if (found.length === depth) return found;
		}
		if (page.length < limit) return found;
	}
}

async function scan(
	{ storage, codec, retained, embedder }: SearchParts,
	{ kind, space, allows }: Wanted,
	words: readonly string[],
	vector: Float32Array | undefined,
): Promise<{ byWords: readonly FoundRecord[]; byVector: readonly FoundRecord[] }> {
	const keeps = retained.filter();
	const wantedWords = new Set(words);
	const index = new WordIndex();
	const records = new Map<number, StoredRecord>();
	const byVector: FoundRecord[] = [];
	for (const each of space === undefined ? await storage.spaces(kind) : [space]) {
		if (!allows(each)) continue;
		for await (const page of storage.pages(kind, each))
			for (const record of page) {
				if (!(await keeps(record))) continue;
				if (words.length > 0) {
					const own = codec.wordsOf(record);
					index.add(record.seq, own, wantedWords);
					if (own.some((word) => wantedWords.has(word))) records.set(record.seq, record);
				}
				const own = vector === undefined ? undefined : codec.vectorOf(record);
				const score = own === undefined ? -1 : similarity(own, vector as Float32Array);
				if (score >= (embedder?.minSimilarity ?? 1)) byVector.push({ record, score });
			}
	}
	const byWords = index
		.rank(words)
		.map(({ seq, score }) => ({ record: records.get(seq) as StoredRecord, score }));
	byVector.sort((one, other) => other.score - one.score || other.record.seq - one.record.seq);
	return { byWords, byVector };
}
