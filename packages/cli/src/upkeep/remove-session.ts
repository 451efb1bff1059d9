/**
 * Removes a family of sessions in many short transactions. The first makes the family unreachable and fences its owners;
 * the others remove its rows a few at a time. Wherever this stops, the file is intact, and the next prune continues.
 */
import { setTimeout as pause } from "node:timers/promises";
import { toStored } from "holdfast/host";
import type { JournalFile } from "holdfast/sqlite";
import { type Family, isUnchanged } from "./prune-plan.ts";

/**
 * The prefix of stored keys of sessions that are being pruned, including the quotation mark that hides a session until
 * all of its rows are removed. Journals that use the file leave them to the next prune.
 */
const prunedPrefix = '"pruned ';

/** Rows of a table removed per transaction. */
const batch = 500;

/** Makes a family unreachable if it is unchanged. */
export function beginRemoval(file: JournalFile, family: Family): boolean {
	return inTransaction(file, () => {
		if (!family.members.every((session) => isUnchanged(file, session))) return false;
		const { database } = file;
		const keepEpoch = database.prepare(
			`INSERT INTO meta (name, value) VALUES ('highest_deleted_epoch', ?)
			ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`,
		);
		const move = database.prepare(
			"UPDATE sessions SET key = ?, epoch = epoch + 1, owner = NULL WHERE id = ?",
		);
		for (const { id, epoch } of family.members) {
			file.noteRemoval(id);
			keepEpoch.run(epoch + 1);
			move.run(`${prunedPrefix}${id}`, id);
		}
		return true;
	});
}

/** Removes unreachable rows in batches, with pauses for other writers. Returns the number of sessions. */
export async function finishRemovals(file: JournalFile, stopped: () => boolean): Promise<number> {
	const next = file.database.prepare(
		"SELECT id FROM sessions WHERE key >= ? AND key < ? || char(1114111) LIMIT 1",
	);
	let sessions = 0;
	while (!stopped()) {
		const session = next.get(prunedPrefix, prunedPrefix) as { id: number } | undefined;
		if (session === undefined) return sessions;
		if ((await inTurn(file, () => removeSome(file, session.id))) === "all") sessions++;
	}
	return sessions;
}

function removeSome({ database }: JournalFile, session: number): "some" | "all" {
	const rows = database
		.prepare("SELECT id, run_id FROM entries WHERE session = ? LIMIT ?")
		.all(session, batch) as { id: number; run_id: string | null }[];
	const remove = database.prepare("DELETE FROM entries WHERE id = ?");
	for (const { id, run_id: run } of rows) {
		remove.run(id);
		if (run !== null) removeRecords(database, run);
	}
	if (rows.length === batch) return "some";
	const chunks = database
		.prepare(
			"DELETE FROM chunks WHERE session = ? AND (seq, sub) IN (SELECT seq, sub FROM chunks WHERE session = ? LIMIT ?)",
		)
		.run(session, session, batch);
	if (Number(chunks.changes) === batch) return "some";
	const known = database
		.prepare(
			"DELETE FROM dedupe WHERE session = ? AND key IN (SELECT key FROM dedupe WHERE session = ? LIMIT ?)",
		)
		.run(session, session, batch);
	if (Number(known.changes) === batch) return "some";
	const notified = "'notifications of ' || (SELECT incarnation FROM sessions WHERE id = ?)";
	const notifications = database
		.prepare(
			`SELECT o.name, json_extract(n.body, '$.runId') AS run FROM records o
			LEFT JOIN records n ON n.shelf = 'notifications' AND n.name = o.name WHERE o.shelf = ${notified} LIMIT ?`,
		)
		.all(session, batch) as { name: string; run: string | null }[];
	const forget = database.prepare(
		`DELETE FROM records WHERE (shelf = ${notified} OR shelf IN ('notifications', 'run-dedupe')) AND name = ?`,
	);
	for (const { name, run } of notifications) {
		if (run !== null) removeRecords(database, toStored(run));
		forget.run(session, name);
	}
	if (notifications.length === batch) return "some";
	database.prepare("DELETE FROM session_values WHERE session = ?").run(session);
	database.prepare("DELETE FROM inputs WHERE session = ?").run(session);
	database.prepare("DELETE FROM meta WHERE name = 'folded ' || CAST(? AS INTEGER)").run(session);
	database.prepare("DELETE FROM sessions WHERE id = ?").run(session);
	return "all";
}

/** Removes an execution host's records of folded runs in batches. */
export async function removeRecordsOf(file: JournalFile, runs: readonly string[]): Promise<void> {
	for (let at = 0; at < runs.length; at += batch)
		await inTurn(file, () => {
			for (const run of runs.slice(at, at + batch)) removeRecords(file.database, run);
		});
}

/** Removes an execution host's records of a run, unless another session (a fork, or its origin) still contains it. */
function removeRecords(database: JournalFile["database"], run: string): void {
	const kept = database.prepare("SELECT 1 FROM entries WHERE run_id = ? AND kind <> 'folded' LIMIT 1");
	if (kept.get(run) !== undefined) return;
	const byName =
		"('runs', 'unfinished-runs', 'scheduled-runs', 'checkpoints', 'child-counts', 'event-counts')";
	const record = database.prepare("SELECT body FROM records WHERE shelf = 'runs' AND name = ?").get(run);
	const { dedupeKey } = JSON.parse((record as { body: string } | undefined)?.body ?? "{}") as {
		dedupeKey?: string;
	};
	database.prepare(`DELETE FROM records WHERE shelf IN ${byName} AND name = ?`).run(run);
	for (const shelf of ["checkpoints", "events", "children"])
		database.prepare("DELETE FROM records WHERE shelf = ?").run(`${shelf} ${run}`);
	if (typeof dedupeKey !== "string") return;
	const stored = JSON.stringify(dedupeKey).slice(1, -1);
	database
		.prepare("DELETE FROM records WHERE shelf IN ('run-dedupe', 'notifications') AND name = ?")
		.run(stored);
}

/** Runs one transaction, then leaves the file to others for as long as it took. */
async function inTurn<T>(file: JournalFile, work: () => T): Promise<T> {
	const began = performance.now();
	const result = inTransaction(file, work);
	await pause(performance.now() - began);
	return result;
}

function inTransaction<T>({ database }: JournalFile, work: () => T): T {
	database.exec("BEGIN IMMEDIATE");
	try {
		const result = work();
		database.exec("COMMIT");
		return result;
	} catch (error) {
		if (database.isTransaction) database.exec("ROLLBACK");
		throw error;
	}
}
