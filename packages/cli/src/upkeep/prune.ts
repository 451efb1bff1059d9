/** Removes expired sessions, and folds the old runs of the others. */
import { foldHistory } from "holdfast/host";
import { type JournalFile, openJournalFile, type SqliteJournal, sqliteJournal } from "holdfast/sqlite";
import { readFamilies } from "./prune-plan.ts";
import { beginRemoval, finishRemovals, removeRecordsOf } from "./remove-session.ts";

/** Options of `pruneJournal`. Times are milliseconds since the epoch. */
export interface PruneOptions {
	readonly path: string;
	/** Sessions last changed before this time are removed. */
	readonly removeBefore: number | undefined;
	/** Runs that ended before this time are folded in the remaining sessions. */
	readonly foldBefore: number | undefined;
	/** This many of the last changed sessions stay, regardless of their age. */
	readonly keep: number;
	/** `plan` only reports. */
	readonly mode: "plan" | "do";
	/** Whether to stop soon. */
	stopped(): boolean;
	/** Called with the result for each session. */
	onStep(step: PruneStep): void;
}

/** The result for a session. */
export interface PruneStep {
	readonly what: "removed" | "folded" | "in-use";
	readonly session: string;
	/** Number of sessions, including those of its sub-agents. */
	readonly sessions: number;
	/** Entries that are removed, or folded into one. */
	readonly entries: number;
	readonly changedAt: number;
}

/** Milliseconds to wait for other writers. */
const patience = 10_000;

/** Prunes a journal while it is in use. */
export async function pruneJournal(options: PruneOptions): Promise<void> {
	const { path, mode } = options;
	const file = openJournalFile(path, mode === "plan" ? "read" : "write");
	let journal: SqliteJournal | undefined;
	try {
		if (mode === "do") {
			file.database.exec(`PRAGMA busy_timeout = ${patience}`);
			journal = sqliteJournal({ path });
			// Removes leftovers of interrupted forks and removals.
			await journal.sweep();
		}
		await remove(file, options);
		await fold(file, journal, options);
		await journal?.sweep(); // Removes the file contents that belonged to the removed sessions.
	} catch (error) {
		throw file.error(error);
	} finally {
		await journal?.close();
		file.database.close();
	}
}

async function remove(file: JournalFile, options: PruneOptions): Promise<void> {
	const { removeBefore, keep, mode, stopped, onStep } = options;
	// Leftovers of an interrupted prune.
	if (mode === "do") await finishRemovals(file, stopped);
	if (removeBefore === undefined) return;
	for (const family of readFamilies(file).slice(keep)) {
		if (stopped()) return;
		if (family.changedAt >= removeBefore || family.busy) continue;
		const { key: session, members, changedAt } = family;
		const entries = members.reduce((sum, member) => sum + member.entries, 0);
		const gone = mode === "plan" || beginRemoval(file, family);
		onStep({ what: gone ? "removed" : "in-use", session, sessions: members.length, entries, changedAt });
		if (mode === "do") await finishRemovals(file, stopped);
	}
}

async function fold(
	file: JournalFile,
	journal: SqliteJournal | undefined,
	options: PruneOptions,
): Promise<void> {
	const { foldBefore, removeBefore, keep, stopped, onStep } = options;
	if (foldBefore === undefined) return;
	const ends = file.database.prepare(
		`SELECT count(*) AS entries FROM entries WHERE session = ? AND seq <= (
			SELECT max(n.seq) FROM entries n WHERE n.session = ? AND n.kind = 'run.ended' AND n.at < ?)`,
	);
	const namedRuns = file.database.prepare(
		"SELECT seq, run_id AS run FROM entries WHERE session = ? AND run_id IS NOT NULL AND kind <> 'folded'",
	);
	for (const [index, family] of readFamilies(file).entries()) {
		if (stopped()) return;
		const goes =
			removeBefore !== undefined && index >= keep && family.changedAt < removeBefore && !family.busy;
		const session = family.members.find(({ isChild }) => !isChild);
		if (goes || session === undefined || session.busy) continue;
		const { key, changedAt } = session;
		const { entries } = ends.get(session.id, session.id, foldBefore) as { entries: number };
		if (entries < 2) continue;
		const step = { session: key, sessions: 1, changedAt };
		if (journal === undefined) {
			onStep({ ...step, what: "folded", entries });
			continue;
		}
		try {
			const runs = namedRuns.all(session.id) as { seq: number; run: string }[];
			const folded = await foldHistory(journal, key, { before: foldBefore });
			if (folded === undefined) continue;
			const gone = runs.filter(({ seq }) => seq <= folded.seq);
			await removeRecordsOf(
				file,
				gone.map(({ run }) => run),
			);
			onStep({ ...step, what: "folded", entries: folded.entries });
		} catch (error) {
			// A turn started since: the next prune folds this session.
			if (!inUse.has((error as { code?: unknown }).code)) throw error;
			onStep({ ...step, what: "in-use", entries });
		}
	}
}

/** Error codes that mean that a session is in use. */
export const inUse: ReadonlySet<unknown> = new Set(["history_unsettled", "session_held", "lease_lost"]);
