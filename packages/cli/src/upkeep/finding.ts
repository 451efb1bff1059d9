/** The findings of a check: counts and problems. */
import type { JournalFile } from "holdfast/sqlite";

/** A problem that was found. */
export interface Problem {
	readonly what: string;
	/** The affected session, if any. */
	readonly session?: string;
}

/** Numbers of items. */
export interface Counts {
	bytes: number;
	freeBytes: number;
	sessions: number;
	openRuns: number;
	entries: number;
	runs: number;
	folded: number;
	/** Streamed pieces of answers and outputs, kept for watchers. */
	chunks: number;
	inputs: number;
	dedupe: number;
	values: number;
	records: number;
	timers: number;
	files: number;
	workers: number;
	/** Sessions with a run held by those workers; undefined if it was not determined. */
	held?: number;
	/** Unreachable sessions: sessions being copied or removed, or left by an interrupted process. */
	hidden: number;
}

/** Collects problems. */
export interface Finding {
	found(what: string, session?: string): void;
}

/** Finds rows of sessions that do not exist. Session 0 has the row of `entries` that keeps the highest position. */
export function orphans(file: JournalFile, table: string, finding: Finding): void {
	const count = countOf(
		file,
		`SELECT count(*) AS count FROM ${table} WHERE session <> 0 AND session NOT IN (SELECT id FROM sessions)`,
	);
	if (count > 0) finding.found(`${count} rows of ${table} belong to sessions that do not exist`);
}

/** Returns the single number that a query selects. */
export function countOf(file: JournalFile, sql: string): number {
	return (file.database.prepare(sql).get() as { count: number }).count;
}
