/**
 * Checks a journal's file for damage: SQLite's own check, and the journal's guarantees about its rows. It only reads, in
 * one transaction, so concurrent writers are not blocked and their writes are not seen.
 */
import type { JournalFile } from "holdfast/sqlite";
import { checkEntries } from "./check-entries.ts";
import { inputKinds, isJson, isRead, noCounts, safely } from "./check-rows.ts";
import { checkSums } from "./check-sums.ts";
import { type Counts, countOf, type Finding, orphans, type Problem } from "./finding.ts";

/** The findings of a check. */
export interface CheckReport {
	readonly counts: Counts;
	readonly problems: readonly Problem[];
	/** Number of problems found but not listed. */
	readonly unlisted: number;
	/** Table versions of this file, and of this release. */
	readonly version: number;
	readonly latest: number;
}

/** `quick` does not compare indexes with tables or bodies with checksums, and takes a fraction of the time. */
export type Depth = "quick" | "full";

/** Maximum number of problems listed. */
const most = 100;

/** Checks an open file. An unreadable row is a finding, not an error. */
export function checkJournal(file: JournalFile, depth: Depth): CheckReport {
	const { database } = file;
	const problems: Problem[] = [];
	let unlisted = 0;
	const finding: Finding = {
		found(what, session) {
			if (problems.length < most) problems.push(session === undefined ? { what } : { what, session });
			else unlisted++;
		},
	};
	const counts = noCounts();
	/** Runs one part of the check: damage in one table must not hide problems in another. */
	const part = (name: string, check: () => void): void => {
		try {
			check();
		} catch (error) {
			finding.found(`${name} cannot be read: ${causeOf(file, error)}`);
		}
	};
	const isInside = database.isTransaction;
	if (!isInside) part("the file", () => database.exec("BEGIN"));
	part("the file", () => {
		const rows = database.prepare(`PRAGMA ${depth === "full" ? "integrity" : "quick"}_check(${most})`).all();
		for (const row of rows as Record<string, string>[]) {
			for (const said of Object.values(row)) if (said !== "ok") finding.found(`SQLite: ${said}`);
		}
	});
	part("the file", () => {
		const pragma = (name: string): number =>
			Object.values(database.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0] ?? 0;
		const pageSize = pragma("page_size");
		counts.bytes = pragma("page_count") * pageSize;
		counts.freeBytes = pragma("freelist_count") * pageSize;
	});
	part("entries", () => checkEntries(file, counts, finding));
	const tables = new Set(
		safely([], () => database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()).map(
			(row) => (row as { name: string }).name,
		),
	);
	for (const { table, check } of beside) {
		// Files of older releases get the newer tables when a journal opens them.
		if (tables.has(table)) part(`table ${table}`, () => check(file, counts, finding));
		else if (file.version === file.latest) finding.found(`table ${table} is missing`);
	}
	if (depth === "full") part("the checksums", () => checkSums(file, finding));
	if (!isInside) safely(undefined, () => database.exec("ROLLBACK"));
	const { version, latest } = file;
	return { counts, problems, unlisted, version, latest };
}

interface TableCheck {
	readonly table: string;
	check(file: JournalFile, counts: Counts, finding: Finding): void;
}

/** The tables other than sessions and entries. */
const beside: readonly TableCheck[] = [
	{
		table: "chunks",
		check(file, counts, finding) {
			orphans(file, "chunks", finding);
			const rows = file.database.prepare(
				`SELECT c.seq, c.sub, c.body, s.id, s.key,
					ifnull((SELECT max(seq) FROM entries WHERE session = s.id), 0) AS last,
					(SELECT seq FROM entries WHERE session = s.id AND kind = 'folded' ORDER BY seq LIMIT 1) AS folded
				FROM chunks c JOIN sessions s ON s.id = c.session`,
			);
			for (const { seq, sub, body, id, key, last, folded } of rows.iterate() as Iterable<ChunkRow>) {
				counts.chunks++;
				if (file.isHidden(key) || seq < file.foldedAt(id)) continue;
				const session = file.text(key);
				const chunk = `chunk ${sub} after entry ${seq}`;
				if (seq > last) finding.found(`${chunk}, and the last entry is ${last}`, session);
				if (folded !== null && seq < folded) finding.found(`${chunk}, which was folded`, session);
				if (!isJson(body)) finding.found(`${chunk} is damaged`, session);
			}
		},
	},
	{
		table: "inputs",
		check(file, counts, finding) {
			for (const row of file.database
				.prepare(
					`SELECT i.position, i.kind, i.body, i.dedupe_key, s.key, s.inputs, d.position AS known FROM inputs i
					LEFT JOIN sessions s ON s.id = i.session
					LEFT JOIN dedupe d ON d.session = i.session AND d.key = i.dedupe_key`,
				)
				.iterate() as Iterable<InputRow>) {
				counts.inputs++;
				const session = row.key === null ? undefined : file.text(row.key);
				const input = `input ${row.position}`;
				if (session === undefined) finding.found(`${input} waits for a session that does not exist`);
				else if (row.inputs < row.position) finding.found(`${input} is not counted`, session);
				if (row.dedupe_key !== null && row.known !== row.position && session !== undefined)
					finding.found(`the dedupe key of ${input} is not known`, session);
				if (!inputKinds.has(row.kind)) finding.found(`${input} is of the unknown kind ${row.kind}`, session);
				if (!isJson(row.body)) finding.found(`the body of ${input} is damaged`, session);
			}
		},
	},
	{
		table: "dedupe",
		check(file, counts, finding) {
			counts.dedupe = countOf(file, "SELECT count(*) AS count FROM dedupe");
			orphans(file, "dedupe", finding);
			const late = `SELECT count(*) AS count FROM dedupe d JOIN sessions s ON s.id = d.session
				WHERE d.position > s.inputs`;
			const count = countOf(file, late);
			if (count > 0) finding.found(`${count} dedupe keys name inputs that were never received`);
		},
	},
	{
		table: "session_values",
		check(file, counts, finding) {
			orphans(file, "session_values", finding);
			const rows = file.database.prepare("SELECT owner, name, value FROM session_values").iterate();
			for (const { owner, name, value } of rows as Iterable<Record<"owner" | "name" | "value", string>>) {
				counts.values++;
				if (!isValue(file, value))
					finding.found(`the value ${file.text(name)} of ${file.text(owner)} is damaged`);
			}
		},
	},
	{
		table: "records",
		check(file, counts, finding) {
			const rows = file.database.prepare("SELECT shelf, name, body FROM records").iterate();
			for (const { shelf, name, body } of rows as Iterable<Record<"shelf" | "name" | "body", string>>) {
				counts.records++;
				if (!isValue(file, body))
					finding.found(`the record ${file.text(name)} of ${file.text(shelf)} is damaged`);
			}
			// A record on these shelves is meaningless without that of its run.
			const lost = `SELECT shelf, count(*) AS count FROM records r WHERE shelf = 'unfinished-runs' AND NOT EXISTS
				(SELECT 1 FROM records o WHERE o.shelf = 'runs' AND o.name = r.name) GROUP BY shelf`;
			for (const { count } of file.database.prepare(lost).all() as { count: number }[])
				finding.found(`${count} runs are listed as unfinished and have no record`);
		},
	},
	{
		table: "timers",
		check(file, counts, finding) {
			orphans(file, "timers", finding);
			const rows = file.database.prepare("SELECT name, body FROM timers").iterate();
			for (const { name, body } of rows as Iterable<{ name: string; body: string | null }>) {
				counts.timers++;
				if (body !== null && !isValue(file, body))
					finding.found(`the body of timer ${file.text(name)} is damaged`);
			}
		},
	},
	{
		table: "files",
		check(file, counts, finding) {
			orphans(file, "files", finding);
			const rows = file.database
				.prepare(
					`SELECT f.name, f.size, s.key, (SELECT ifnull(sum(length(p.bytes)), 0) FROM file_pieces p
						WHERE p.id >= f.id * 16777216 AND p.id < (f.id + 1) * 16777216) AS kept
					FROM files f JOIN sessions s ON s.id = f.session`,
				)
				.iterate();
			for (const { name, size, key, kept } of rows as Iterable<FileRow>) {
				counts.files++;
				if (kept !== size)
					finding.found(`file ${file.text(name)} has ${kept} of its ${size} bytes`, file.text(key));
			}
		},
	},
	{
		table: "file_pieces",
		check(file, _, finding) {
			const lost = countOf(
				file,
				"SELECT count(*) AS count FROM file_pieces WHERE id / 16777216 NOT IN (SELECT id FROM files)",
			);
			if (lost > 0) finding.found(`${lost} pieces belong to files that do not exist`);
		},
	},
	{
		table: "removed_sessions",
		check(file, _, finding) {
			const late = `SELECT count(*) AS count FROM removed_sessions WHERE position > (
				SELECT ifnull(max(id), 0) FROM entries)`;
			if (countOf(file, late) > 0) finding.found("a removed session has a position that can be reused");
		},
	},
	{
		table: "workers",
		check(file, counts) {
			counts.workers = countOf(file, "SELECT count(*) AS count FROM workers");
		},
	},
];

interface ChunkRow {
	readonly id: number;
	readonly seq: number;
	readonly sub: number;
	readonly body: string;
	readonly key: string;
	readonly last: number;
	readonly folded: number | null;
}

interface FileRow {
	readonly name: string;
	readonly size: number;
	readonly key: string;
	readonly kept: number;
}

interface InputRow {
	readonly position: number;
	readonly kind: string;
	readonly body: string;
	readonly dedupe_key: string | null;
	readonly key: string | null;
	readonly inputs: number;
	readonly known: number | null;
}

function isValue(file: JournalFile, text: string): boolean {
	return isRead(() => file.value(text));
}

function causeOf(file: JournalFile, error: unknown): string {
	return error instanceof Error && "errcode" in error ? error.message : file.error(error).message;
}
