// The journal in a SQLite file as the store of a simulated world: a file of its own for each schedule.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SimulatedStore, WorldClock } from "@holdfast/testing";
import { type SqliteJournal, sqliteJournal } from "holdfast/sqlite";

/** A store for one schedule. */
export function sqliteStore(clock: WorldClock): SimulatedStore {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-world-"));
	const path = join(folder, "journal.db");
	const journals: SqliteJournal[] = [];
	let database: DatabaseSync | undefined;
	return {
		name: "sqlite",
		worker(workerId) {
			const journal = sqliteJournal({ path, clock, workerId });
			journals.push(journal);
			return journal;
		},
		takeForDead({ workerId }) {
			// As if its row had been written by a process that is gone.
			database ??= new DatabaseSync(path, { timeout: 5_000 });
			const dead = database.prepare("UPDATE workers SET pid = ?, started = 'long ago' WHERE name = ?");
			dead.run(2 ** 22 + 1, workerId);
		},
		async end() {
			database?.close();
			for (const journal of journals) await journal.close();
			rmSync(folder, { recursive: true, force: true });
		},
	};
}
