/** Writes a new journal's file from a dump. It gets its name only when it is complete, counted and checked. */
import { closeSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "@holdfast/upp";
import {
	type DumpBatch,
	type DumpTable,
	type DumpTables,
	differsIn,
	type StoreDump,
	StoreScale,
	type StoreSize,
} from "holdfast/host";
import { type JournalFile, openJournalFile, sqliteHost } from "holdfast/sqlite";
import { checkJournal } from "./check.ts";
import { checkPlace, placeFile, syncFile } from "./place-file.ts";
import { UpkeepError } from "./upkeep-error.ts";

const instead = "Give the path of a file that does not exist yet.";

type Value = string | number | null | Uint8Array;

/** The row of an entry, and the row that names its run; null if it is the same row. */
interface Place {
	readonly id: number;
	readonly run: number | null;
}

/** The insert statement of each table, and its values. */
const inserts: {
	readonly [T in DumpTable]: readonly [
		sql: string,
		values: (row: DumpTables[T], sumOf: JournalFile["sumOf"], place: Place) => Value[],
	];
} = {
	sessions: [
		`INSERT INTO sessions (id, key, incarnation, epoch, open_run, look_at, inputs, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		(row) => [
			row.id,
			row.key,
			row.incarnation,
			row.epoch,
			row.openRun,
			row.lookAt,
			row.inputs,
			row.createdAt,
			row.updatedAt,
		],
	],
	entries: [
		"INSERT INTO entries (id, session, seq, run, run_id, kind, version, at, body, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		(row, sumOf, place) => [
			place.id,
			row.session,
			row.seq,
			place.run,
			place.run === null ? row.run : null,
			row.kind,
			row.version,
			row.at,
			row.body,
			sumOf([row.kind, row.version], row.body),
		],
	],
	chunks: [
		"INSERT INTO chunks (session, seq, sub, body, sum) VALUES (?, ?, ?, ?, ?)",
		(row, sumOf) => [row.session, row.seq, row.sub, row.body, sumOf([row.seq, row.sub], row.body)],
	],
	inputs: [
		`INSERT INTO inputs (session, position, id, kind, run_id, dedupe_key, worker, at, body, sum)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		(row, sumOf) => [
			row.session,
			row.position,
			row.id,
			row.kind,
			row.run,
			row.dedupeKey,
			row.worker,
			row.at,
			row.body,
			sumOf([row.kind, row.id], row.body),
		],
	],
	dedupe: [
		"INSERT INTO dedupe (session, key, position) VALUES (?, ?, ?)",
		(row) => [row.session, row.key, row.position],
	],
	values: [
		"INSERT INTO session_values (session, owner, name, value, sum) VALUES (?, ?, ?, ?, ?)",
		(row, sumOf) => [row.session, row.owner, row.name, row.body, sumOf([row.owner, row.name], row.body)],
	],
	timers: [
		"INSERT INTO timers (session, name, wake_at, due_at, attempt, body, sum) VALUES (?, ?, ?, ?, ?, ?, ?)",
		(row, sumOf) => [
			...[row.session, row.name, row.wakeAt, row.wakeAt, row.attempt, row.body],
			sumOf([row.name], row.body),
		],
	],
	files: [
		"INSERT INTO files (id, session, owner, name, size, at) VALUES (?, ?, ?, ?, ?, ?)",
		(row) => [row.id, row.session, row.owner, row.name, row.size, row.at],
	],
	pieces: [
		"INSERT INTO file_pieces (id, bytes, sum) VALUES (?, ?, ?)",
		(row, sumOf) => [row.file * 16_777_216 + row.piece, row.bytes, sumOf([], row.bytes)],
	],
	records: [
		"INSERT INTO records (shelf, name, revision, body, sum) VALUES (?, ?, ?, ?, ?)",
		(row, sumOf) => [row.shelf, row.name, row.revision, row.body, sumOf([row.shelf, row.name], row.body)],
	],
};

/** Where to find the sizes in the new file. */
const bodies: Readonly<Record<DumpTable, readonly [table: string, body?: string]>> = {
	sessions: ["sessions"],
	entries: ["entries WHERE session <> 0", "body"],
	chunks: ["chunks", "body"],
	inputs: ["inputs", "body"],
	dedupe: ["dedupe"],
	values: ["session_values", "value"],
	timers: ["timers", "body"],
	files: ["files"],
	pieces: ["file_pieces", "bytes"],
	records: ["records", "body"],
};

/**
 * Creates the file. Until it is complete, its location stays empty; a process that dies leaves a file next to it, marked
 * as partial by its name.
 * @throws UpkeepError if the location is not allowed, or the copy differs from the source; HoldfastError for write
 * errors.
 */
export async function writeFile(
	to: string,
	dump: StoreDump,
	onProgress: (size: StoreSize) => void,
): Promise<StoreSize> {
	const partial = `${to}.partial-${process.pid}`;
	try {
		makeFolder(dirname(to));
		checkPlace(to, "keep", instead);
		closeSync(openSync(partial, "wx", 0o600));
		await sqliteHost(partial).close(); // Creates the tables.
		const file = openJournalFile(partial, "write");
		let size: StoreSize;
		try {
			file.database.exec("PRAGMA synchronous = OFF; BEGIN IMMEDIATE");
			size = await fill(file, dump, onProgress);
			file.database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
			const { problems } = checkJournal(file, "quick");
			if (problems.length > 0)
				throw new UpkeepError(
					`Nothing was moved: the source is damaged. ${problems[0]?.what}. See: holdfast db check.`,
				);
		} catch (error) {
			throw error instanceof UpkeepError ? error : file.error(error);
		} finally {
			file.database.close();
		}
		syncFile(partial);
		placeFile(partial, to, "keep", instead);
		syncFile(dirname(to));
		return size;
	} finally {
		for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(partial + suffix, { force: true });
	}
}

async function fill(
	file: JournalFile,
	dump: StoreDump,
	onProgress: (size: StoreSize) => void,
): Promise<StoreSize> {
	const { database } = file;
	const scale = new StoreScale();
	const places = new Places();
	for await (const batch of dump.rows()) {
		insert(file, batch, places);
		scale.add(batch);
		onProgress(scale.size);
	}
	database
		.prepare("INSERT INTO meta (name, value) VALUES ('highest_deleted_epoch', ?)")
		.run(dump.highestDeletedEpoch);
	database.exec(`
		INSERT INTO meta (name, value) SELECT 'record_revision', ifnull(max(revision), 0) FROM records;
		UPDATE sessions SET changed = (SELECT ifnull(max(id), 0) FROM entries) + id
			WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.session = sessions.id);
		INSERT INTO entries (id, session, seq, kind, version, at, body)
			SELECT max(changed), 0, 0, 'position', 0, 0, '' FROM sessions WHERE changed IS NOT NULL HAVING count(*) > 0;
	`);
	const written = sizeOf(file);
	const wrong = differsIn(scale.size, written);
	if (wrong === undefined) return written;
	throw new UpkeepError(
		`The written copy differs from the source: ${wrong} has ${written[wrong].rows} rows, and should have ${scale.size[wrong].rows}. Nothing was kept.`,
	);
}

function insert({ database, sumOf }: JournalFile, { table, rows }: DumpBatch, places: Places): void {
	const [sql, values] = inserts[table];
	const statement = database.prepare(sql);
	for (const row of rows) {
		const place = "run" in row && table === "entries" ? places.of(row as DumpTables["entries"]) : nowhere;
		statement.run(...(values(row as never, sumOf, place) as never[]));
	}
}

const nowhere: Place = { id: 0, run: null };

/** Numbers entries as they arrive: the first row of a run names it, and later rows refer to the first. */
class Places {
	#id = 0;
	#session = 0;
	readonly #runs = new Map<string, number>();

	of({ session, run }: DumpTables["entries"]): Place {
		const id = ++this.#id;
		if (session !== this.#session) this.#runs.clear();
		this.#session = session;
		const named = this.#runs.get(run);
		if (named === undefined) this.#runs.set(run, id);
		return { id, run: named ?? null };
	}
}

function sizeOf({ database }: JournalFile): StoreSize {
	const sizes = Object.entries(bodies).map(([name, [table, body]]) => {
		const bytes = body === undefined ? "0" : `length(CAST(${body} AS BLOB))`;
		const size = database
			.prepare(`SELECT count(*) AS rows, ifnull(sum(${bytes}), 0) AS bytes FROM ${table}`)
			.get();
		return [name, size];
	});
	return Object.fromEntries(sizes);
}
