// Folds settled entries into one row (keeps I2): within the transaction of the append, the row of the last entry receives
// the folded state, and earlier ones become unreachable. If there are many, later transactions delete them, and `meta`
// records them until then: they remain invisible even if this is interrupted. Later rows are not changed.
import type { EncodedFact } from "../facts/index.ts";
import { historyUnsettled } from "../facts/index.ts";
import { fewRows, type Spent } from "./hidden-sessions.ts";
import type { Statements } from "./statements.ts";

/** The row that the others are folded into, and the name of its run. */
export interface FoldedRow {
	readonly id: number;
	readonly seq: number;
}

/** Returns the row at a position, if a run ended there or it was folded before. Call it before anything is written. */
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
	// If a deleted row names the run of later entries, they must name it themselves.
	statements.nameRuns.run({ session, seq });
	const { kind, version, body } = fact;
	statements.foldInto.run(runId, kind, version, body, statements.sumOfEntry(kind, version, body), id);
	const rows = removeFolded(statements, { session, seq }, spent);
	if (rows === "some") statements.keepFold.run(session, seq);
}

/** Folded entries some of whose rows still exist. */
export interface LeftFold {
	readonly session: number;
	/** Seq of the entry that replaces them. */
	readonly seq: number;
}

/** Deletes folded rows. Call it within a transaction; returns which rows were deleted. */
export function removeFolded(statements: Statements, fold: LeftFold, spent: Spent): "all" | "some" {
	for (const few of [statements.deleteSomeEntriesBefore, statements.deleteSomeChunksBefore])
		while (Number(few.run({ ...fold, count: fewRows }).changes) === fewRows) if (spent()) return "some";
	statements.forgetFold.run(fold.session);
	return "all";
}
