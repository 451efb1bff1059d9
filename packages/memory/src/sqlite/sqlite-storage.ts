// A storage in a SQLite file. A transaction never stays open across an `await`; while another process holds a lock, this
// one waits without blocking.

import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "@holdfast/upp";
import type { Kind, NewRecord, Storage, StoredRecord } from "../storage/index.ts";
import { duration, failed, unavailable } from "../storage/index.ts";
import { isBusy, openFile } from "./open-file.ts";
import { prepared, type Statements } from "./statements.ts";
import { searchWords } from "./word-search.ts";

/** Records read at a time. */
const pageSize = 500;
const usualPatience = 5_000;

interface Opened {
	readonly database: DatabaseSync;
	readonly statements: Statements;
}

/** @throws HoldfastError `OPTION_INVALID` if the name cannot be a file. */
export function sqliteStorage(options: { readonly file: string; readonly busyTimeoutMs?: number }): Storage {
	const { file } = options;
	const unlimited = { least: 0, most: Number.POSITIVE_INFINITY };
	const busyTimeoutMs = duration("busyTimeoutMs", options.busyTimeoutMs, usualPatience, unlimited);
	if (typeof file !== "string" || file === "" || file === ":memory:")
		throw new HoldfastError(
			"OPTION_INVALID",
			"`file` must be the path of a file. Without a file, use `inMemoryClients()`.",
		);
	let opened: Opened | undefined;

	/** Runs the work, and repeats it while another process holds a lock. */
	const patiently = async <Result>(work: () => Result): Promise<Result> => {
		const end = performance.now() + busyTimeoutMs;
		for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
			try {
				return work();
			} catch (error) {
				if (!isBusy(error)) throw failed(file, error);
				if (performance.now() > end) throw unavailable(file, "another process keeps it locked", error);
			}
			await sleep(pause);
		}
	};
	const read = <Result>(work: (statements: Statements) => Result): Promise<Result> =>
		patiently(() => work(demandOpen(opened, file).statements));
	const write = <Result>(work: (statements: Statements) => Result): Promise<Result> =>
		patiently(() => {
			const { database, statements } = demandOpen(opened, file);
			database.exec("BEGIN IMMEDIATE");
			try {
				const result = work(statements);
				database.exec("COMMIT");
				return result;
			} catch (error) {
				if (database.isTransaction) database.exec("ROLLBACK");
				throw error;
			}
		});
	return {
		async open() {
			const database = await patiently(() => openFile(file));
			opened = { database, statements: prepared(database) };
		},
		async close() {
			opened?.database.close();
			opened = undefined;
		},
		ping: () => read((statements) => void statements.find.get("", "")),
		append: (record) => write((statements) => add(statements, "entry", record)),
		put: (record) =>
			write((statements) => {
				const { space, name } = record;
				forget(statements, "value", statements.deleteValue.all(space, name));
				add(statements, "value", record);
			}),
		find: (space, name) => read(({ find }) => find.get(space, name) as StoredRecord | undefined),
		list: (space, { order, offset, limit, fromSeq, since }) =>
			read(({ listUp, listDown }) => {
				const statement = order === "asc" ? listUp : listDown;
				return statement.all(space, fromSeq, since, limit ?? -1, offset) as unknown as StoredRecord[];
			}),
		async *pages(kind, space) {
			for (let after = 0; ; ) {
				const page = await read(
					(statements) => statements.page.all(kind, space, after, pageSize) as unknown as StoredRecord[],
				);
				if (page.length > 0) yield page;
				if (page.length < pageSize) return;
				after = page.at(-1)?.seq as number;
			}
		},
		spaces: (kind) => read(({ spaces }) => spaces.all(kind).map(({ space }) => String(space))),
		floor: (space, newest) => read(({ floor }) => Number(floor.get(space, newest - 1)?.seq ?? 0)),
		remove: (space, expired) =>
			write((statements) => {
				const removed =
					expired === undefined
						? statements.clear.all(space)
						: statements.expire.all(space, expired.belowSeq, expired.before);
				forget(statements, "entry", removed);
				return removed.length;
			}),
		rewrite: ({ seq, kind, body, vector }) =>
			write((statements) => {
				const { changes } = statements.rewrite.run(body, vector, seq);
				if (changes > 0) forget(statements, kind, [{ seq }]);
			}),
		compact: () =>
			patiently(() => {
				const { database } = demandOpen(opened, file);
				// Removes the data of deleted records from the indexes and the log.
				for (const table of ["entry_words", "value_words"])
					database.exec(`INSERT INTO ${table} (${table}) VALUES ('optimize')`);
				database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
			}),
		search: (search) => read((statements) => searchWords(statements, search)),
	};
}

function demandOpen(opened: Opened | undefined, file: string): Opened {
	if (opened === undefined) throw unavailable(file, "it was closed in the meantime");
	return opened;
}

function add(statements: Statements, kind: Kind, { space, name, at, body, vector, words }: NewRecord): void {
	const insert = kind === "entry" ? statements.insertOnce : statements.insert;
	const { changes, lastInsertRowid } = insert.run(kind, space, name, at, body, vector);
	if (changes === 0 || words === undefined || words.length === 0) return;
	const addWords = kind === "entry" ? statements.addEntryWords : statements.addValueWords;
	addWords.run(lastInsertRowid, words.join(" "));
}

function forget(
	{ dropEntryWords, dropValueWords }: Statements,
	kind: Kind,
	removed: readonly Record<string, unknown>[],
): void {
	const drop = kind === "entry" ? dropEntryWords : dropValueWords;
	for (const { seq } of removed) drop.run(Number(seq));
}
