// The journal in a SQLite file as the store of a simulated world: a file of its own for each schedule.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SimulatedStore, WorldClock } from "@holdfast/testing";
import { type SqliteJournal, sqliteJournal } from "holdfast/sqlite";

/** When processes that are gone had started. */
const gone = "long ago";

/** A store for one schedule. */
export function sqliteStore(clock: WorldClock): SimulatedStore {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-world-"));
	const path = join(folder, "journal.db");
	const journals = new Map<string, SqliteJournal>();
	/** What the rows of those taken for dead said of their process. */
	const lively = new Map<string, { readonly pid: number; readonly started: string }>();
	let database: DatabaseSync | undefined;
	return {
		name: "sqlite",
		worker(workerId) {
			const known = journals.get(workerId);
			if (known !== undefined) {
				// A process that wakes is the one it was, with the journal it had.
				const { pid, started } = lively.get(workerId) ?? {};
				if (pid !== undefined && started !== undefined)
					database
						?.prepare("UPDATE workers SET pid = ?, started = ? WHERE name = ?")
						.run(pid, started, workerId);
				return known;
			}
			const journal = sqliteJournal({ path, clock, workerId });
			journals.set(workerId, journal);
			return journal;
		},
		takeForDead({ workerId }) {
			// As if its row had been written by a process that is gone.
			database ??= new DatabaseSync(path, { timeout: 5_000 });
			const row = database.prepare("SELECT pid, started FROM workers WHERE name = ?").get(workerId);
			if (row !== undefined && row.started !== gone)
				lively.set(workerId, { pid: Number(row.pid), started: String(row.started) });
			const dead = database.prepare("UPDATE workers SET pid = ?, started = ? WHERE name = ?");
			dead.run(2 ** 22 + 1, gone, workerId);
		},
		async end() {
			database?.close();
			for (const journal of journals.values()) await journal.close();
			rmSync(folder, { recursive: true, force: true });
		},
	};
}
