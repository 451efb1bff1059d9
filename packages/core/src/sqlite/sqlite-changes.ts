// The changes of a journal's file. Entries themselves are changes: their ids increase across all sessions, so an append
// costs nothing extra. Every other change of a session takes an id too, stored in the session's row.
import { type Change, type ChangeLog, changesAtOnce, changesExpired } from "../host/index.ts";
import type { ChangeFeed } from "./change-feed.ts";
import type { Reading } from "./patient-reads.ts";
import type { Statements } from "./statements.ts";
import { fromStored } from "./stored-text.ts";

/** The journal parts that changes need. */
export interface ChangesParts {
	readonly statements: Statements;
	readonly feed: ChangeFeed;
	readonly reading: Reading;
}

type Row = Omit<Change, "kind">;

/** Returns the changes of a journal. */
export function sqliteChanges({ statements, feed, reading }: ChangesParts): ChangeLog {
	const { changedEntries, changedSessions, removedSessions, firstRemoved, lastPosition } = statements;

	/** Whether deletions after a position are no longer remembered. */
	function isForgotten(after: number): boolean {
		const first = firstRemoved.get() as { number: number; position: number } | undefined;
		return first !== undefined && first.number > 1 && after < first.position;
	}

	return {
		position: () => reading(() => (lastPosition.get() as { position: number }).position),
		read: ({ after = 0, limit = changesAtOnce } = {}) =>
			reading(() => {
				if (after > 0 && isForgotten(after)) throw changesExpired(after);
				const rows = (statement: typeof changedEntries, kind: Change["kind"]): Change[] =>
					(statement.all(after, limit) as unknown as Row[]).map((row) => ({
						position: row.position,
						key: fromStored(row.key),
						incarnation: row.incarnation,
						seq: row.seq,
						kind,
					}));
				const found = [...rows(changedEntries, "appended"), ...rows(changedSessions, "changed")];
				// A reader that starts from the beginning has never seen the deleted sessions.
				if (after > 0) found.push(...rows(removedSessions, "deleted"));
				return found.sort((one, other) => one.position - other.position).slice(0, limit);
			}),
		watch: (changed) => feed.watchAll(changed),
	};
}
