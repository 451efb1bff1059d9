// Journals of one file, inspected from outside: for tests of work in many short transactions.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, vi } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { RemoteWorker } from "./remote-worker.fixture.ts";
import { type SqliteJournal, sqliteJournal } from "./sqlite-journal.ts";

/** A file for each test of the suite, its journals, and remote workers on it. */
export interface OneFile {
	/** Its path. */
	readonly path: string;
	/** Workers to kill after the test. */
	readonly far: RemoteWorker[];
	/** Opens a journal, which is closed after the test. */
	open(options?: { readonly maxFileSize?: number }): SqliteJournal;
	/** Returns the number that a query selects as `count`, on a separate connection. */
	countOf(sql: string): number;
	/** The database used by `countOf`, from the first `open()` on. */
	readonly looker: DatabaseSync;
}

/** Call it at the start of a suite. */
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

/** Makes every reading of the clock advance far, so that a transaction processes as few rows as possible. */
export function slowly(): void {
	let now = performance.now();
	vi.spyOn(performance, "now").mockImplementation(() => {
		now += 1_000;
		return now;
	});
}
