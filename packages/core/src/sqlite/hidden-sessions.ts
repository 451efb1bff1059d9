// Unreachable sessions: the target of a copy until it is complete, and a removed session until its rows are deleted
// (keeps I2). Their keys begin with a quotation mark, which no other stored key does. Such a session belongs to the
// copying worker. If it has no owner, or a dead one, it only waits to be deleted.
import type { Statements } from "./statements.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/**
 * Whether a transaction on many rows has used up its time. Checked after every few rows, so that each transaction makes
 * progress.
 */
export type Spent = () => boolean;

/** How many rows are copied or deleted between two time checks. */
export const fewRows = 64;

/** Creates a unique key for a session that journals sweep. Two workers, or a restarted one, never share one. */
export function hiddenKey(): string {
	return `"sweep ${globalThis.crypto.randomUUID()}`;
}

/** Whether a stored key belongs to an unreachable session. Journals do not sweep all of them. */
export function isHidden(storedKey: string): boolean {
	return storedKey.startsWith('"');
}

/** Deletes rows of a session, and finally its own row. Call it within a transaction; returns which rows were deleted. */
export function removeRows(statements: Statements, session: number, spent: Spent): "all" | "some" {
	// Wherever this stops, nothing in the session waits to be processed.
	statements.deleteInputs.run(session);
	statements.deleteValues.run(session);
	const { deleteSomeEntries, deleteSomeChunks, deleteSomeDedupe } = statements;
	for (const few of [deleteSomeEntries, deleteSomeChunks, deleteSomeDedupe])
		while (Number(few.run({ session, count: fewRows }).changes) === fewRows) if (spent()) return "some";
	statements.forgetFold.run(session);
	statements.deleteSession.run(session);
	return "all";
}

/**
 * Deletes some rows of hidden sessions without an owner. Call it within a transaction; returns whether there were any.
 * The owner is removed before the first row, so that a worker wrongly considered dead detects the loss.
 */
export function sweepSome(statements: Statements, worker: WorkerRegistration, spent: Spent): boolean {
	const hidden = statements.hiddenSessions.all() as { id: number; owner: number | null }[];
	const left = hidden.find(
		({ owner }) => owner === null || !(worker.isOwn(owner) || worker.find(owner)?.alive === true),
	);
	if (left === undefined) return false;
	if (left.owner !== null) statements.disownSession.run(left.id);
	removeRows(statements, left.id, spent);
	return true;
}
