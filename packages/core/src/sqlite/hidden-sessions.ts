// Sessions that nobody can reach: one that is copied to until it is whole, and one that is removed from its removal on
// until its rows are gone (keeps I2). Their keys begin with a quotation mark, which no stored key does. Such a session
// belongs to the worker that copies; one without an owner, or with a dead one, only waits to be removed.
import type { Statements } from "./statements.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** Whether the time of a transaction on many rows is over; asked after every few rows, so that each makes some headway. */
export type Spent = () => boolean;

/** How many rows are copied or removed between two looks at the time. */
export const fewRows = 64;

/** A key that no session has, for one that journals sweep. Two workers, or one that begins anew, never have the same. */
export function hiddenKey(): string {
	return `"sweep ${globalThis.crypto.randomUUID()}`;
}

/** Whether a key, as it is in its column, is of a session that nobody can reach; some are not for journals to sweep. */
export function isHidden(storedKey: string): boolean {
	return storedKey.startsWith('"');
}

/** Removes rows of a session; its own row goes with the last of them. Within a transaction; says which are gone. */
export function removeRows(statements: Statements, session: number, spent: Spent): "all" | "some" {
	// Wherever it stops, nothing of it waits for anybody.
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
 * Removes some rows of what is hidden and nobody works on. Within a transaction; says whether there was any. The owner
 * goes before the first row does: who was only taken for dead finds that it is not his any more.
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
