// A copy of a session's settled entries, within one transaction and one statement (keeps I2): no row of it refers to the
// session it was made of, and none passes through this process's memory.
import type { FactKind } from "../fact.ts";
import { forkUnsettled, sessionExists } from "../journal-errors.ts";
import { isSettledAt } from "../settled-at.ts";
import type { SeenSession } from "./sqlite-lease.ts";
import type { Statements } from "./statements.ts";
import { toStored } from "./stored-text.ts";

/** What is copied to where. */
export interface Fork {
	readonly from: string;
	readonly to: string;
	readonly until: number;
}

/** Copies; to be called within a transaction. Refuses before it writes anything. */
export function forkEntries(statements: Statements, { from, to, until }: Fork, now: number): void {
	const source = statements.findSession.get(toStored(from)) as SeenSession | undefined;
	if (source === undefined) throw forkUnsettled(from, until);
	const rows = statements.kindsFrom.all(source.id, until) as { seq: number; kind: FactKind }[];
	const kind = rows[0]?.seq === until ? rows[0].kind : undefined;
	if (!isSettledAt({ kind, next: rows[1]?.kind, isOpen: source.open_run !== null }))
		throw forkUnsettled(from, until);
	if (statements.sessionId.get(toStored(to)) !== undefined) throw sessionExists(to);
	const created = statements.createSession.get(toStored(to), now, now) as { id: number };
	const last = statements.lastEntryId.get() as { id: number };
	statements.copyEntries.run(last.id, created.id, last.id, source.id, until);
}
