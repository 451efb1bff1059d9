// Folds settled entries into one row (keeps I2): within the transaction of its append, the row of the last of them takes
// the folded state, and earlier ones become unreachable. If there are many, they are deleted in later transactions, and
// `meta` records them until then: they stay invisible wherever this stops. Later rows are not changed.
import type { EncodedFact } from "../facts/index.ts";
import { historyUnsettled } from "../facts/index.ts";
import { fewRows, type Spent } from "./hidden-sessions.ts";
import type { Statements } from "./statements.ts";

/** The row that others go into, and the name of its run. */
export interface FoldedRow {
	readonly id: number;
	readonly seq: number;
}

/** The row at a place, if a run ended there or it was folded before; to be asked before anything is written. */
export function settledRow(
	statements: Statements,
	key: string,
	{ session, seq, openRun }: { session: number | undefined; seq: number; openRun: string | null },
): FoldedRow {
	const row = session === undefined ? undefined : statements.settledEntry.get({ session, seq });
	if (row === undefined || openRun !== null) throw historyUnsettled(key, seq);
	return { id: (row as { id: number }).id, seq };
}

/** Replaces the entries up to a row by one fact in that row. */
export function foldEntries(
	statements: Statements,
	session: number,
	{ id, seq }: FoldedRow,
	{ runId, fact, spent }: { readonly runId: string; readonly fact: EncodedFact; readonly spent: Spent },
): void {
	// Later entries whose run is named by a deleted row must name it themselves.
	statements.nameRuns.run({ session, seq });
	const { kind, version, body } = fact;
	statements.foldInto.run(runId, kind, version, body, statements.sumOf([kind, version], body), id);
	const rows = removeFolded(statements, { session, seq }, spent);
	if (rows === "some") statements.keepFold.run(session, seq);
}

/** Entries that were folded, and some of whose rows are left. */
export interface LeftFold {
	readonly session: number;
	/** Seq of the entry that represents them. */
	readonly seq: number;
}

/** Deletes folded rows. Within a transaction; returns which were deleted. */
export function removeFolded(statements: Statements, fold: LeftFold, spent: Spent): "all" | "some" {
	for (const few of [statements.deleteSomeEntriesBefore, statements.deleteSomeChunksBefore])
		while (Number(few.run({ ...fold, count: fewRows }).changes) === fewRows) if (spent()) return "some";
	statements.forgetFold.run(fold.session);
	return "all";
}
