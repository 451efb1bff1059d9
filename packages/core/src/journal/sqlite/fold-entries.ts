// Folding settled entries into one row (keeps I2): within the transaction of its append, the row of the last of them
// takes what they came to, and those before it go. Rows behind it stay as they are, their places included.
import type { EncodedFact } from "../codec.ts";
import { historyUnsettled } from "../journal-errors.ts";
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
	const row = session === undefined ? undefined : statements.settledEntry.get(session, seq);
	if (row === undefined || openRun !== null) throw historyUnsettled(key, seq);
	return { id: (row as { id: number }).id, seq };
}

/** Replaces the entries up to a row by one fact in that row. */
export function foldEntries(
	statements: Statements,
	session: number,
	{ id, seq }: FoldedRow,
	runId: string,
	{ kind, version, body }: EncodedFact,
): void {
	// Entries behind it whose run is named by a row that goes must name it themselves.
	statements.nameRuns.run(session, seq, session, seq);
	statements.foldInto.run(runId, kind, version, body, id);
	statements.deleteBefore.run(session, seq);
	statements.deleteChunksBefore.run(session, seq);
}
