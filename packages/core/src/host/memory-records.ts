// In-memory records: stored unchanged, answered synchronously.
import type { RecordSpace, StoredRecord } from "./records.ts";

const nothing: StoredRecord = { revision: 0, value: undefined };

/** Creates records that live as long as this object. */
export function memoryRecords(): RecordSpace {
	const shelves = new Map<string, Map<string, StoredRecord>>();
	let revisions = 0;
	return {
		get: ({ shelf, name }) => shelves.get(shelf)?.get(name) ?? nothing,
		list(shelf, { after = "", limit = Number.POSITIVE_INFINITY } = {}) {
			const names = [...(shelves.get(shelf)?.keys() ?? [])].filter((name) => name > after).sort();
			return names.slice(0, limit).map((name) => {
				const stored = shelves.get(shelf)?.get(name) ?? nothing;
				return { name, ...stored };
			});
		},
		commit(expected, writes) {
			for (const { shelf, name, revision } of expected) {
				if ((shelves.get(shelf)?.get(name) ?? nothing).revision !== revision) return false;
			}
			for (const { shelf, name, value } of writes) {
				const records = shelves.get(shelf) ?? new Map<string, StoredRecord>();
				if (value === undefined) records.delete(name);
				else records.set(name, { revision: ++revisions, value });
				if (records.size === 0) shelves.delete(shelf);
				else shelves.set(shelf, records);
			}
			return true;
		},
	};
}
