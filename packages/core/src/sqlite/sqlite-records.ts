// Records in the journal's file: a table next to the entries, written in one transaction.
import { encodeValue } from "@holdfast/upp";
import type { MaybePromise, RecordSpace, StoredRecord } from "../host/index.ts";
import { decoded } from "./read-entries.ts";
import type { Statements } from "./statements.ts";
import { fromStored, toStored } from "./stored-text.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** The journal parts that records need. */
export interface RecordsParts {
	readonly statements: Statements;
	readonly worker: WorkerRegistration;
	/** Runs within a transaction and resolves when it is committed. */
	commit<T>(apply: () => T, committed: () => void): Promise<T>;
	reading<T>(read: () => T): MaybePromise<T>;
}

const nothing: StoredRecord = { revision: 0, value: undefined };

/** Returns the records of a journal. */
export function sqliteRecords({ statements, worker, commit, reading }: RecordsParts): RecordSpace {
	const revisionOf = (shelf: string, name: string): number =>
		(statements.recordRevision.get(toStored(shelf), toStored(name)) as { revision: number } | undefined)
			?.revision ?? 0;
	return {
		get: ({ shelf, name }) =>
			reading(() => {
				const row = statements.readRecord.get(toStored(shelf), toStored(name)) as RecordRow | undefined;
				return row === undefined ? nothing : recordOf(row);
			}),
		list: (shelf, { after = "", limit = -1 } = {}) =>
			reading(() => {
				const rows = statements.listRecords.all(toStored(shelf), toStored(after), limit);
				return (rows as unknown as (RecordRow & { name: string })[]).map((row) =>
					Object.assign(recordOf(row), { name: fromStored(row.name) }),
				);
			}),
		commit(expected, writes) {
			const texts = writes.map(({ shelf, name, value }) => ({
				place: [toStored(shelf), toStored(name)] as const,
				body: value === undefined ? undefined : JSON.stringify(encodeValue(value)),
			}));
			return commit(() => {
				if (expected.some(({ shelf, name, revision }) => revisionOf(shelf, name) !== revision)) return false;
				// A record may be a claim, which others take over once its worker is dead, so this worker must send
				// heartbeats.
				worker.present();
				const { value: revision } = statements.nextRevision.get() as { value: number };
				for (const { place, body } of texts) {
					if (body === undefined) statements.deleteRecord.run(...place);
					else statements.writeRecord.run(...place, revision, body, statements.sumOf(place, body));
				}
				return true;
			}, worker.committed);
		},
	};
}

/** The value is decoded on access, so that damaged records can still be listed and deleted. */
function recordOf({ revision, body }: RecordRow): StoredRecord {
	return {
		revision,
		get value() {
			return decoded(body, "a record");
		},
	};
}

interface RecordRow {
	readonly revision: number;
	readonly body: string;
}
