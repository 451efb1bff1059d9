// The floor of durable work: the rows of a journal file that a run has written, written again into a new file of the
// same tables by bare prepared statements, with nothing else done.
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

export type Durability = "process" | "power";

/** A row, column by column. */
export type Row = readonly SQLInputValue[];

/** The content of a journal file, ready to be written again. */
export interface JournalRows {
	/** The statements that make its tables and indexes. */
	readonly schema: readonly string[];
	/** Rows of tables that do not grow with steps. */
	readonly workers: readonly Row[];
	readonly sessions: readonly Row[];
	/** Rows of the log, in the order in which they were written. */
	readonly entries: readonly Row[];
	/** The kind and the session of each row of the log. */
	readonly marks: readonly { readonly kind: string; readonly session: number }[];
}

/** Reads the rows of a journal file that has no writers. */
export function readJournalRows(path: string): JournalRows {
	// Not read-only: such a connection would leave the files of the write-ahead log.
	const database = new DatabaseSync(path);
	try {
		const all = (table: string): readonly Row[] => {
			const statement = database.prepare(`SELECT * FROM ${table} ORDER BY 1`);
			statement.setReturnArrays(true);
			return statement.all() as unknown as readonly Row[];
		};
		const texts =
			"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid";
		return {
			schema: (database.prepare(texts).all() as { sql: string }[]).map(({ sql }) => sql),
			workers: all("workers"),
			sessions: all("sessions"),
			entries: all("entries"),
			marks: database.prepare("SELECT kind, session FROM entries ORDER BY id").all() as unknown as {
				kind: string;
				session: number;
			}[],
		};
	} finally {
		database.close();
	}
}

/** Kinds that open a transaction: a run's start, its answers with the calls they start, its results, its end. */
const opening: ReadonlySet<string> = new Set(["run.started", "assistant", "tool.settled", "run.ended"]);

/** The kinds of a runner's transactions, where no result goes before them: a plan with what it starts; its results. */
export const openingOfRunners: ReadonlySet<string> = new Set([...opening, "decision"]);

/**
 * Splits the log into transactions in the way the run of one session did: two per tool step. A conclusion about a result
 * has its own.
 */
export function byCommit(
	{ entries, marks }: JournalRows,
	kinds: ReadonlySet<string> = opening,
): readonly (readonly Row[])[] {
	const transactions: Row[][] = [];
	for (const [at, row] of entries.entries()) {
		const before = marks[at - 1];
		const mark = marks[at] as JournalRows["marks"][number];
		const isOpening = kinds.has(mark.kind) && !(mark.kind === "decision" && before?.kind === "tool.settled");
		if (before === undefined || isOpening || before.session !== mark.session) transactions.push([]);
		(transactions.at(-1) as Row[]).push(row);
	}
	return transactions;
}

/** The log cut into this many transactions of even size. */
export function evenly({ entries }: JournalRows, count: number): readonly (readonly Row[])[] {
	const size = Math.ceil(entries.length / count);
	return Array.from({ length: Math.ceil(entries.length / size) }, (_, at) =>
		entries.slice(at * size, (at + 1) * size),
	);
}

/** A new file with the tables of a journal and its sessions, open for its log. */
export interface BareFile {
	/** Writes rows of the log as one transaction. */
	write(rows: readonly Row[]): void;
	/** Writes rows of sessions as one transaction. */
	writeSessions(rows: readonly Row[]): void;
	close(): void;
}

/** Opens a new file for the log. Its settings are those of the journal. */
export function openBareFile(path: string, durability: Durability, rows: JournalRows): BareFile {
	const database = new DatabaseSync(path);
	database.exec(rows.schema.join(";\n"));
	database.exec(`PRAGMA journal_mode = WAL;
		PRAGMA synchronous = ${durability === "power" ? "FULL" : "NORMAL"};
		PRAGMA journal_size_limit = 16777216;`);
	const begin = database.prepare("BEGIN IMMEDIATE");
	const commit = database.prepare("COMMIT");
	const prepared = new Map<string, StatementSync>();
	const writer = (table: string) => (batch: readonly Row[]) => {
		const [first] = batch;
		if (first === undefined) return;
		let insert = prepared.get(table);
		if (insert === undefined) {
			insert = database.prepare(`INSERT INTO ${table} VALUES (${first.map(() => "?").join(", ")})`);
			prepared.set(table, insert);
		}
		begin.run();
		for (const row of batch) insert.run(...row);
		commit.run();
	};
	writer("workers")(rows.workers);
	writer("sessions")(rows.sessions);
	return { write: writer("entries"), writeSessions: writer("sessions"), close: () => database.close() };
}
