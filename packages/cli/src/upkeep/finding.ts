/** The findings of a check: counts and problems. */
import type { JournalFile } from "holdfast/sqlite";

/** Something that should not be. */
export interface Problem {
	readonly what: string;
	/** The session it concerns, where there is one. */
	readonly session?: string;
}

/** How much there is of what. */
export interface Counts {
	bytes: number;
	freeBytes: number;
	sessions: number;
	openRuns: number;
	entries: number;
	runs: number;
	folded: number;
	/** Pieces of answers and outputs, kept for those who watch. */
	chunks: number;
	inputs: number;
	dedupe: number;
	values: number;
	records: number;
	timers: number;
	files: number;
	workers: number;
	/** Sessions with a run that those workers have under way; undefined where that is not looked at. */
	held?: number;
	/** Unreachable sessions: ones being copied or removed, or left by an interrupted process. */
	hidden: number;
}

/** Collects problems. */
export interface Finding {
	found(what: string, session?: string): void;
}

/** Rows of sessions that are not there. Session 0 has the row of `entries` that keeps the highest position. */
export function orphans(file: JournalFile, table: string, finding: Finding): void {
	const count = countOf(
		file,
		`SELECT count(*) AS count FROM ${table} WHERE session <> 0 AND session NOT IN (SELECT id FROM sessions)`,
	);
	if (count > 0) finding.found(`${count} rows of ${table} belong to sessions that are not there`);
}

/** The one number that a query gives. */
export function countOf(file: JournalFile, sql: string): number {
	return (file.database.prepare(sql).get() as { count: number }).count;
}
