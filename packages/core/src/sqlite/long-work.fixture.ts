// Journals of one file, looked into from beside: for tests of work that goes in many short transactions.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, vi } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { RemoteWorker } from "./remote-worker.fixture.ts";
import { type SqliteJournal, sqliteJournal } from "./sqlite-journal.ts";

/** A file for each test of the suite, its journals and those who work on it from other processes. */
export interface OneFile {
	/** Where it lies. */
	readonly path: string;
	/** Workers to be killed when the test is over. */
	readonly far: RemoteWorker[];
	/** Opens a journal, closed when the test is over. */
	open(options?: { readonly maxFileSize?: number }): SqliteJournal;
	/** The number that a query gives as `count`, beside all journals. */
	countOf(sql: string): number;
	/** The database that `countOf` reads, from the first `open()` on. */
	readonly looker: DatabaseSync;
}

/** To be called where a suite begins. */
export function oneFile(): OneFile {
	let path = "";
	let looker: DatabaseSync | undefined;
	const journals: SqliteJournal[] = [];
	const far: RemoteWorker[] = [];
	const look = (): DatabaseSync => {
		looker ??= new DatabaseSync(path, { timeout: 5_000 });
		return looker;
	};
	beforeEach(() => {
		path = join(temporaryFolder(), "journal.db");
	});
	afterEach(async () => {
		vi.restoreAllMocks();
		looker?.close();
		looker = undefined;
		for (const worker of far.splice(0)) await worker.end("SIGKILL");
		for (const journal of journals.splice(0)) await journal.close();
	});
	return {
		get path() {
			return path;
		},
		far,
		open(options = {}) {
			const journal = sqliteJournal({ path, ...options });
			journals.push(journal);
			look();
			return journal;
		},
		countOf: (sql) => (look().prepare(sql).get() as { count: number }).count,
		get looker() {
			return look();
		},
	};
}

/** From now on every look at the clock takes long: a transaction takes as few rows as it can. */
export function slowly(): void {
	let now = performance.now();
	vi.spyOn(performance, "now").mockImplementation(() => {
		now += 1_000;
		return now;
	});
}
