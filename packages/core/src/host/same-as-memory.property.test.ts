import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SameWorld, sameAsMemory } from "@holdfast/testing/same-as-memory";
import { expect, test } from "vitest";
import { propertyRuns } from "../../../../test/shared/property-runs.fixture.ts";
import { loadSqlite } from "../sqlite/load-sqlite.ts";
import { sqliteJournal } from "../sqlite/sqlite-journal.ts";
import type { Journal } from "./journal.ts";

const clock = { now: () => 5_000 };

function inFile(): SameWorld {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-same-"));
	const path = join(folder, "journal.db");
	const open = (workerId: string): Journal => sqliteJournal({ path, clock, workerId });
	const journals = { one: open("one"), two: open("two"), three: open("three") };
	const looker = open("looker");
	return {
		journals,
		looker,
		die(worker) {
			// As if written by a process that has died.
			const database = new (loadSqlite().DatabaseSync)(path);
			const dead = database.prepare("UPDATE workers SET pid = ?, started = 'long ago' WHERE name = ?");
			expect(dead.run(2 ** 22 + 1, worker).changes).toBe(1);
			database.close();
		},
		async end() {
			for (const journal of [looker, ...Object.values(journals)]) await journal.close();
			rmSync(folder, { recursive: true });
		},
	};
}

test("a journal in a file returns the same as one in memory, for any writes in any order", async () => {
	await sameAsMemory(inFile, propertyRuns(150));
});
