// Copies a session's settled entries, a few per transaction, or all in the first if there are few (keeps I2). The copy
// grows under a hidden key and gets its final key in the transaction that copies the last entries, which checks
// everything again. No row of it refers to the original session, and no body passes through this process's memory.
import type { FactKind } from "../facts/index.ts";
import { forkUnsettled, isSettledAt, sessionExists } from "../facts/index.ts";
import { fewRows, hiddenKey, type Spent } from "./hidden-sessions.ts";
import { takePosition } from "./session-writes.ts";
import type { SeenSession } from "./sqlite-lease.ts";
import type { Statements } from "./statements.ts";
import { toStored } from "./stored-text.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** The source and the target of a copy. */
export interface Fork {
	readonly from: string;
	readonly to: string;
	readonly until: number;
}

/** An incomplete copy. */
export interface Copy {
	readonly session: number;
	/** Its hidden key. */
	readonly key: string;
	/**
	 * Number of the copied session. The number is not reused while the copy exists, because the copy has a higher one.
	 */
	readonly source: number;
	/** Seq of the last copied entry. */
	readonly copied: number;
}

/** The journal parts that copying needs. */
export interface CopyParts {
	readonly statements: Statements;
	readonly worker: WorkerRegistration;
	readonly now: number;
	readonly spent: Spent;
}

/**
 * Copies some entries; call it within a transaction. Any refusal precedes the first write. `changed`: the copied and the
 * remaining entries no longer match, and nothing was done; the caller has to start over.
 */
export function copySome(parts: CopyParts, fork: Fork, before: Copy | undefined): Copy | "whole" | "changed" {
	const { statements, worker, now, spent } = parts;
	const to = toStored(fork.to);
	const source = statements.findSession.get(toStored(fork.from)) as SeenSession | undefined;
	if (before !== undefined && !isUnchanged(parts, before, source)) return "changed";
	if (before === undefined) checkSettled(statements, fork, source);
	if (statements.sessionId.get(to) !== undefined) throw sessionExists(fork.to);
	const copy = before ?? begin(statements, (source as SeenSession).id, now);
	const copied = copyEntries(statements, copy, fork.until, spent);
	if (copied < fork.until) {
		statements.ownSession.run(worker.present(), copy.session);
		return { ...copy, copied };
	}
	statements.showSession.run(to, takePosition(statements), now, now, copy.session);
	return "whole";
}

/** Whether the worker still owns the copy, and the source is unchanged since the copying started. */
function isUnchanged(
	{ statements, worker }: CopyParts,
	copy: Copy,
	source: SeenSession | undefined,
): boolean {
	const own = statements.hiddenOwner.get(copy.session, copy.key) as { owner: number | null } | undefined;
	if (own === undefined || !worker.isOwn(own.owner) || source?.id !== copy.source) return false;
	return firstSeq(statements, source.id) <= copy.copied;
}

function checkSettled(
	statements: Statements,
	{ from, until }: Fork,
	source: SeenSession | undefined,
): asserts source is SeenSession {
	if (source === undefined) throw forkUnsettled(from, until);
	const rows = statements.kindsFrom.all({ session: source.id, seq: until }) as {
		seq: number;
		kind: FactKind;
	}[];
	const kind = rows[0]?.seq === until ? rows[0].kind : undefined;
	if (!isSettledAt({ kind, next: rows[1]?.kind, isOpen: source.open_run !== null }))
		throw forkUnsettled(from, until);
}

function begin(statements: Statements, source: number, now: number): Copy {
	const key = hiddenKey();
	const { id: session } = statements.createSession.get(key, null, now, now) as { id: number };
	return { session, key, source, copied: firstSeq(statements, source) - 1 };
}

/** Copies until the time limit, and returns the seq of the last copied entry. */
function copyEntries(
	statements: Statements,
	{ session, source, copied: before }: Copy,
	until: number,
	spent: Spent,
): number {
	const { id: last } = statements.lastEntryId.get() as { id: number };
	// The rows of one transaction are numbered consecutively, so that the number of a row follows from its seq.
	const base = last - before;
	let copied = before;
	do {
		const through = Math.min(until, copied + fewRows);
		statements.copyEntries.run({ base, before, source, session, copied, through });
		copied = through;
	} while (copied < until && !spent());
	return copied;
}

function firstSeq(statements: Statements, session: number): number {
	return (statements.firstSeq.get({ session }) as { seq: number }).seq;
}
