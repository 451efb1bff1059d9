// Records in the journal's file, and where its runs are found: what an execution host on this file is made of.
import { decodeValue, encodeValue, type JSONValue } from "@holdfast/upp";
import type { MaybePromise, RecordSpace, StoredRecord } from "../host/index.ts";
import type { Statements } from "./statements.ts";
import { fromStored, toStored } from "./stored-text.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** Where a run stands in the journal. */
export interface RunLocation {
	/** Key of its session. */
	readonly place: string;
	/** Seq of its first entry; undefined while it waits in the inbox. */
	readonly first?: number;
	/** Seq of its last entry; undefined while it has not ended. */
	readonly ended?: number;
}

export interface SqliteRecords extends RecordSpace {
	/** Undefined for a run that the journal does not know. */
	locate(runId: string): MaybePromise<RunLocation | undefined>;
	/** Ids of the runs that have begun and not ended, or wait for their start. */
	unfinishedRuns(): MaybePromise<readonly string[]>;
	/** Whether a worker that has written records is known to be dead, or left; false where in doubt. */
	isDead(workerId: string): MaybePromise<boolean>;
}

/** What records need of their journal. */
export interface RecordsParts {
	readonly statements: Statements;
	readonly worker: WorkerRegistration;
	/** Runs within a transaction and resolves when it is committed. */
	commit<T>(apply: () => T, committed: () => void): Promise<T>;
	reading<T>(read: () => T): MaybePromise<T>;
}

const nothing: StoredRecord = { revision: 0, value: undefined };

/** The records beside a journal. */
export function sqliteRecords({ statements, worker, commit, reading }: RecordsParts): SqliteRecords {
	const revisionOf = (shelf: string, name: string): number =>
		(statements.recordRevision.get(toStored(shelf), toStored(name)) as { revision: number } | undefined)
			?.revision ?? 0;
	return {
		get: ({ shelf, name }) =>
			reading(() => {
				const row = statements.readRecord.get(toStored(shelf), toStored(name)) as RecordRow | undefined;
				return row === undefined ? nothing : { revision: row.revision, value: decoded(row.body) };
			}),
		list: (shelf, { after = "", limit = -1 } = {}) =>
			reading(() => {
				const rows = statements.listRecords.all(toStored(shelf), toStored(after), limit);
				return (rows as unknown as (RecordRow & { name: string })[]).map(({ name, revision, body }) => ({
					name: fromStored(name),
					revision,
					value: decoded(body),
				}));
			}),
		commit(expected, writes) {
			const texts = writes.map(({ shelf, name, value }) => ({
				place: [toStored(shelf), toStored(name)] as const,
				body: value === undefined ? undefined : JSON.stringify(encodeValue(value)),
			}));
			return commit(() => {
				if (expected.some(({ shelf, name, revision }) => revisionOf(shelf, name) !== revision)) return false;
				// What is written may be a claim, which others take once its worker is dead: it must be seen to live.
				worker.present();
				const { value: revision } = statements.nextRevision.get() as { value: number };
				for (const { place, body } of texts) {
					if (body === undefined) statements.deleteRecord.run(...place);
					else statements.writeRecord.run(...place, revision, body);
				}
				return true;
			}, worker.committed);
		},
		locate: (runId) =>
			reading(() => {
				const stored = toStored(runId);
				const row = statements.locateRun.get(stored) as RunRow | undefined;
				if (row !== undefined) {
					const { first, ended } = row;
					return { place: fromStored(row.place), first, ...(ended === null ? {} : { ended }) };
				}
				const waiting = statements.locateWaiting.get(stored) as { place: string } | undefined;
				return waiting && { place: fromStored(waiting.place) };
			}),
		unfinishedRuns: () =>
			reading(() => (statements.unfinishedRuns.all() as { id: string }[]).map(({ id }) => fromStored(id))),
		isDead: (workerId) => reading(() => worker.isDead(toStored(workerId))),
	};
}

interface RecordRow {
	readonly revision: number;
	readonly body: string;
}

interface RunRow {
	readonly place: string;
	readonly first: number;
	readonly ended: number | null;
}

function decoded(text: string): unknown {
	return decodeValue(JSON.parse(text) as JSONValue);
}
