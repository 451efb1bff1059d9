// Converts rows to entries, inputs, values and heads.
import { decodeValue, type JSONValue } from "@holdfast/upp";
import type { Entry, SourcePage, StoredChunk } from "../facts/index.ts";
import { decodeFact, eventsExpired, journalCorrupt } from "../facts/index.ts";
import type { Input, ReadChunks, ReadOptions, SessionHead, StoredInput } from "../host/index.ts";
import type { ChunkRow, EntryColumns, InputRow, SessionView, Statements } from "./statements.ts";
import { fromStored } from "./stored-text.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** The data about a session needed to read its entries. */
export interface ReadableSession {
	readonly id: number;
	/** Seq of the entry that replaces all before it, while rows of those remain; otherwise 0. */
	readonly folded: number;
}

/** Reads the entries of a session. */
export function readEntries(
	statements: Statements,
	key: string,
	{ id: session, folded }: ReadableSession,
	{ after = 0, limit = -1 }: ReadOptions,
): Entry[] {
	const given = statements.readEntries.all(session, Math.max(after, folded - 1), limit);
	const rows = given.map(columnsOf);
	const runs = new Map<number, string>();
	const [first] = rows;
	if (after > 0 && first?.[4] === "folded" && first[1] > after + 1) throw eventsExpired(key, after, first[1]);
	return rows.map(([id, seq, run, name, kind, version, at, body]) => {
		if (name !== null) runs.set(id, fromStored(name));
		const runId = runs.get(run ?? id) ?? findRun(statements, runs, run ?? id);
		return { seq, at, runId, fact: decodeFact(kind, version, body) };
	});
}

/** Reads the chunks of a session. */
export function readChunks(
	{ readChunks: read }: Statements,
	{ id, folded }: ReadableSession,
	{ after, through, limit }: ReadChunks,
): StoredChunk[] {
	const rows = read.all(id, folded, after.seq, after.sub, through, limit) as unknown as ChunkRow[];
	return rows.map(({ seq, sub, body }) => ({ seq, sub, event: parsed(body, `a chunk after entry ${seq}`) }));
}

/** The data about a session needed to read a page of it. */
export interface PageHead extends ReadableSession, Omit<SourcePage, "entries" | "chunks"> {}

/** Reads entries and chunks of a session. */
export function readPage(
	statements: Statements,
	key: string,
	session: PageHead,
	{ after, limit }: Pick<ReadChunks, "after" | "limit">,
): SourcePage {
	const { incarnation, epoch, seq } = session;
	const entries = readEntries(statements, key, session, { after: after.seq, limit });
	const through = entries.at(-1)?.seq ?? after.seq;
	return {
		incarnation,
		epoch,
		seq,
		entries,
		chunks: readChunks(statements, session, { after, through, limit }),
	};
}

/** Returns a row as a list. Before Node 24 it is an object with its members in column order. */
function columnsOf(row: unknown): EntryColumns {
	return (Array.isArray(row) ? row : Object.values(row as object)) as unknown as EntryColumns;
}

/** Returns the name of a run whose first row was not read. */
function findRun(statements: Statements, runs: Map<number, string>, row: number): string {
	const found = statements.runOfEntry.get(row) as { run_id: string | null } | undefined;
	if (found === undefined || found.run_id === null)
		throw journalCorrupt(`entry ${row} does not name its run`);
	const runId = fromStored(found.run_id);
	runs.set(row, runId);
	return runId;
}

/** Returns the waiting inputs of a session, in order; none if it does not exist. */
export function readInbox(statements: Statements, storedKey: string): StoredInput[] {
	const rows = statements.readInputs.all(storedKey) as unknown as InputRow[];
	return rows.map((row) => ({
		id: fromStored(row.id),
		kind: row.kind as Input["kind"],
		...(row.run_id === null ? {} : { runId: fromStored(row.run_id) }),
		...(row.dedupe_key === null ? {} : { dedupeKey: fromStored(row.dedupe_key) }),
		...(row.worker === null ? {} : { workerId: fromStored(row.worker) }),
		// Decoded on access, so that damaged rows can still be listed and removed.
		get body() {
			return parsed(row.body, `the input ${row.position} of a session`);
		},
		order: row.position,
		at: row.at,
	}));
}

/** @throws HoldfastError `journal_corrupt` for invalid JSON. */
function parsed(body: string, what: string): unknown {
	try {
		return JSON.parse(body) as unknown;
	} catch (cause) {
		throw journalCorrupt(`${what} cannot be read`, cause);
	}
}

/** Decodes a stored value. @throws HoldfastError `journal_corrupt` if it is damaged. */
export function decoded(text: string, what: string): unknown {
	try {
		return decodeValue(JSON.parse(text) as JSONValue);
	} catch (cause) {
		throw journalCorrupt(`${what} cannot be read`, cause);
	}
}

/** Converts a row to the head of a session. */
export function toHead(view: SessionView, worker: WorkerRegistration): SessionHead {
	const holder = view.open_run === null || view.owner === null ? undefined : worker.find(view.owner);
	return {
		key: fromStored(view.key),
		incarnation: view.incarnation,
		epoch: view.epoch,
		seq: view.seq,
		...(view.open_run === null ? {} : { openRunId: fromStored(view.open_run) }),
		...(view.open_run !== null && view.last_kind === "run.parked" ? { parked: true } : {}),
		...(holder === undefined ? {} : { holder: { ...holder, workerId: fromStored(holder.workerId) } }),
		createdAt: view.created_at,
		updatedAt: Math.max(view.updated_at, view.last_at),
		waiting: view.waiting,
	};
}
