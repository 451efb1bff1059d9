// Records: small values under a shelf and a name, each with a revision, replaced by compare-and-swap. Everything that a
// host stores in addition to its journal is here, so that one transaction covers it, both in memory and in files.
import type { MaybePromise } from "./journal.ts";
import { systemPorts } from "./ports.ts";

/** A record with its revision. */
export interface StoredRecord {
	/** A new number for every write of any record, never reused. 0 for a missing record. */
	readonly revision: number;
	/** Undefined if it does not exist. If it is damaged, reading it throws `journal_corrupt`. */
	readonly value: unknown;
}

/** The address of a record. */
interface RecordAddress {
	/** A group of records, such as `scheduled-runs`. */
	readonly shelf: string;
	/** The records of a shelf are ordered by name. */
	readonly name: string;
}

/** A change of one record. */
export interface RecordWrite extends RecordAddress {
	/** Undefined deletes the record. */
	readonly value: unknown;
}

/** The revision a record must have for a write to succeed. */
export interface RecordExpectation extends RecordAddress {
	/** The revision that was read; 0 for a record that must not exist. */
	readonly revision: number;
}

/** Selects the records of a list. */
export interface ListRecords {
	/** Only records whose name sorts after this one. */
	readonly after?: string;
	/** The maximum number. Default: all. */
	readonly limit?: number;
}

/** A store of records. */
export interface RecordSpace {
	/** Returns a record; revision 0 if it does not exist. */
	get(address: RecordAddress): MaybePromise<StoredRecord>;
	/** Returns the records of a shelf, ordered by name. */
	list(
		shelf: string,
		options?: ListRecords,
	): MaybePromise<readonly (StoredRecord & { readonly name: string })[]>;
	/** Writes all or nothing. Returns false and writes nothing if a record does not have the expected revision. */
	commit(expected: readonly RecordExpectation[], writes: readonly RecordWrite[]): MaybePromise<boolean>;
}

/** A view of the records that buffers its writes until they are committed. */
export class RecordDraft {
	readonly #space: RecordSpace;
	readonly #seen = new Map<string, RecordExpectation & { readonly value: unknown }>();
	readonly #writes = new Map<string, RecordWrite>();

	constructor(space: RecordSpace) {
		this.#space = space;
	}

	/** Returns the value including this draft's writes; undefined if absent. */
	async get(shelf: string, name: string): Promise<unknown> {
		const address = addressOf(shelf, name);
		const written = this.#writes.get(address);
		if (written !== undefined) return written.value;
		const known = this.#seen.get(address);
		if (known !== undefined) return known.value;
		const { revision, value } = await this.#space.get({ shelf, name });
		this.#seen.set(address, { shelf, name, revision, value });
		return value;
	}

	/** Writes a value; undefined deletes it. The caller must not change it afterwards. */
	put(shelf: string, name: string, value: unknown): void {
		this.#writes.set(addressOf(shelf, name), { shelf, name, value });
	}

	/** Returns the values of a shelf by name. Records that others add concurrently do not conflict. */
	async list(shelf: string, options: ListRecords = {}): Promise<readonly (readonly [string, unknown])[]> {
		const { after = "", limit = Number.POSITIVE_INFINITY } = options;
		const own = [...this.#writes.values()].filter((write) => write.shelf === shelf && write.name > after);
		const stored = await this.#space.list(shelf, own.length === 0 ? options : { after });
		const found = new Map(stored.map(({ name, value }) => [name, value]));
		for (const { name, value } of own) {
			if (value === undefined) found.delete(name);
			else found.set(name, value);
		}
		const entries = [...found];
		if (own.length > 0) entries.sort(([one], [other]) => (one < other ? -1 : 1));
		return entries.length > limit ? entries.slice(0, limit) : entries;
	}

	/** Commits the writes. Returns false and writes nothing if a value read by this draft has changed since. */
	async commit(): Promise<boolean> {
		if (this.#writes.size === 0) return true;
		return await this.#space.commit([...this.#seen.values()], [...this.#writes.values()]);
	}
}

/** Runs `work` on a draft and repeats it until it is committed. If `work` throws, nothing changes. */
export async function onDraft<T>(space: RecordSpace, work: (draft: RecordDraft) => Promise<T>): Promise<T> {
	for (let attempt = 1; ; attempt++) {
		const draft = new RecordDraft(space);
		const result = await work(draft);
		if (await draft.commit()) return result;
		// An in-memory store answers synchronously, so this lets other work run.
		if (attempt % 10 === 0) await new Promise<void>(systemPorts.eventLoop.nextTurn);
	}
}

/** Encodes a number as a name that sorts numerically. */
export function numbered(position: number): string {
	return String(position).padStart(12, "0");
}

function addressOf(shelf: string, name: string): string {
	return `${shelf.length} ${shelf}${name}`;
}
