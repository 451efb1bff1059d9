// A storage in the memory of this process. Every call completes before it returns, so calls never interleave.
import { WordIndex } from "../search/index.ts";
import type { Expired, Kind, NewRecord, Storage, StoredRecord } from "../storage/index.ts";

/** A stream or a collection. */
interface Space {
	/** Records by number, in order. */
	readonly records: Map<number, StoredRecord>;
	/** Numbers of the named records. */
	readonly names: Map<string, number>;
}

/** Creates a storage in memory. */
export function inMemoryStorage(): Storage {
	let last = 0;
	const all: Record<Kind, Map<string, Space>> = { entry: new Map(), value: new Map() };
	const indexes: Record<Kind, WordIndex> = { entry: new WordIndex(), value: new WordIndex() };
	const records: Record<Kind, Map<number, StoredRecord>> = { entry: new Map(), value: new Map() };

	const recordsOf = (kind: Kind, space: string): readonly StoredRecord[] => [
		...(all[kind].get(space)?.records.values() ?? []),
	];
	const add = (kind: Kind, { words, ...record }: NewRecord): void => {
		const space = all[kind].get(record.space) ?? { records: new Map(), names: new Map() };
		all[kind].set(record.space, space);
		const stored = { kind, seq: ++last, ...record };
		space.records.set(stored.seq, stored);
		records[kind].set(stored.seq, stored);
		if (record.name !== null) space.names.set(record.name, stored.seq);
		if (words !== undefined) indexes[kind].add(stored.seq, words);
	};
	const drop = ({ kind, seq, space: of, name }: StoredRecord): void => {
		const space = all[kind].get(of);
		space?.records.delete(seq);
		records[kind].delete(seq);
		if (name !== null) space?.names.delete(name);
		indexes[kind].remove(seq);
	};
	return {
		async open() {},
		async close() {},
		async ping() {},
		async append(record) {
			if (record.name !== null && all.entry.get(record.space)?.names.has(record.name)) return;
			add("entry", record);
		},
		async put(record) {
			const known = all.value.get(record.space)?.names.get(record.name);
			if (known !== undefined) drop(records.value.get(known) as StoredRecord);
			add("value", record);
		},
		async find(space, name) {
			const seq = all.value.get(space)?.names.get(name);
			return seq === undefined ? undefined : records.value.get(seq);
		},
		async list(space, { order, offset, limit, fromSeq, since }) {
			const kept = recordsOf("entry", space).filter(({ seq, at }) => seq >= fromSeq && at >= since);
			const ordered = order === "asc" ? kept : kept.toReversed();
			return ordered.slice(offset, limit === undefined ? undefined : offset + limit);
		},
		async *pages(kind, space) {
			yield recordsOf(kind, space);
		},
		spaces: async (kind) => [...all[kind].keys()],
		floor: async (space, newest) => recordsOf("entry", space).at(-newest)?.seq ?? 0,
		async remove(space, expired) {
			const removed = recordsOf("entry", space).filter((record) => isExpired(record, expired));
			for (const record of removed) drop(record);
			if (all.entry.get(space)?.records.size === 0) all.entry.delete(space);
			return removed.length;
		},
		async rewrite(record) {
			const { kind, seq, space } = record;
			if (!records[kind].has(seq)) return;
			records[kind].set(seq, record);
			all[kind].get(space)?.records.set(seq, record);
			indexes[kind].remove(seq);
		},
		async compact() {},
		async search({ kind, words, space, offset, limit }) {
			const found = indexes[kind]
				.rank(words)
				.map(({ seq, score }) => ({ record: records[kind].get(seq) as StoredRecord, score }))
				.filter(({ record }) => space === undefined || record.space === space);
			return found.slice(offset, offset + limit);
		},
	};
}

function isExpired({ seq, at }: StoredRecord, expired: Expired | undefined): boolean {
	return expired === undefined || seq < expired.belowSeq || at < expired.before;
}
