// Writes that need no lease, each within the caller's transaction: inputs, and the removal of a session.

import { leaseLost } from "../facts/index.ts";
import { type Input, type Journal, rememberedDeletions } from "../host/index.ts";
import { hiddenKey, removeRows, type Spent } from "./hidden-sessions.ts";
import type { SeenSession, Store } from "./sqlite-lease.ts";
import type { Statements } from "./statements.ts";
import { toStored } from "./stored-text.ts";

/** Returns the number of a session, and creates it if it is new. Call it within a transaction. */
export function ensureSession(statements: Statements, storedKey: string, now: number): number {
	const found = statements.sessionId.get(storedKey) as { id: number } | undefined;
	if (found !== undefined) return found.id;
	const created = statements.createSession.get(storedKey, takePosition(statements), now, now);
	return (created as { id: number }).id;
}

/** Takes the next position of a change other than an entry. Call it within a transaction. */
export function takePosition(statements: Statements): number {
	return (statements.takePosition.get() as { position: number }).position;
}

/** Puts an input into the inbox of its session, which is created if it is new. */
export function insertInput(
	store: Store,
	key: string,
	input: Input,
	now: number,
): { readonly duplicate: boolean; readonly order: number } {
	const { statements, worker } = store;
	const { askedBy } = input;
	if (askedBy !== undefined && !isAsking(statements, askedBy)) throw leaseLost(askedBy.key);
	const storedKey = toStored(key);
	const session = ensureSession(statements, storedKey, now);
	const dedupeKey = storedOrNull(input.dedupeKey);
	if (dedupeKey !== null) {
		const known = statements.findDedupe.get(session, dedupeKey) as { position: number } | undefined;
		if (known !== undefined) return { duplicate: true, order: known.position };
	}
	// Others start this input if its worker is dead, so this worker must send heartbeats.
	if (input.workerId === worker.workerId) worker.present();
	const { inputs: order } = statements.countInput.get(takePosition(statements), now, session) as {
		inputs: number;
	};
	const [id, body] = [toStored(input.id), JSON.stringify(input.body) ?? "null"];
	statements.insertInput.run(
		session,
		order,
		id,
		input.kind,
		storedOrNull(input.runId),
		dedupeKey,
		storedOrNull(input.workerId),
		now,
		body,
		statements.sumOf([input.kind, id], body),
	);
	if (dedupeKey !== null) statements.insertDedupe.run(session, dedupeKey, order);
	return { duplicate: false, order };
}

function isAsking(
	statements: Statements,
	{ key, runId, incarnation }: NonNullable<Input["askedBy"]>,
): boolean {
	const asking = statements.findSession.get(toStored(key)) as unknown as SeenSession | undefined;
	if (asking === undefined || (runId !== undefined && asking.open_run !== toStored(runId))) return false;
	if (incarnation === undefined) return true;
	const now = statements.sessionIncarnation.get(asking.id) as { incarnation: string } | undefined;
	return now?.incarnation === incarnation;
}

/**
 * Reports the deletion to followers of changes, and makes data stored with the session unreachable. Call it within the
 * transaction of the removal.
 */
export function forgetSession(statements: Statements, session: number): void {
	statements.rememberRemoved.run(takePosition(statements), session);
	statements.forgetRemoved.run(2 * rememberedDeletions);
	statements.deleteTimers.run(session);
	statements.hideFiles.run(session);
}

/** The result of a removal. */
export interface Removed {
	readonly session: number;
	/** `some`: the others are hidden and have to be swept. */
	readonly rows: "all" | "some";
	/** `some`: they are unreachable, and their pieces have to be swept. */
	readonly files: "none" | "some";
}

/** The state in which a session was read. Undefined: any state. */
export type Seen = Parameters<Journal["delete"]>[1];

/** Removes a session and keeps its epoch, raised, for the next one; undefined if there was none. */
export function removeSession(
	statements: Statements,
	key: string,
	seen: Seen,
	spent: Spent,
): Removed | undefined {
	const found = statements.findSession.get(toStored(key)) as unknown as SeenSession | undefined;
	if (found === undefined) return undefined;
	if (seen !== undefined && (seen.epoch !== found.epoch || seen.seq !== found.seq)) throw leaseLost(key);
	const { id: session, epoch } = found;
	statements.keepEpoch.run(epoch + 1);
	const files = hasFiles(statements, session) ? "some" : "none";
	forgetSession(statements, session);
	const rows = removeRows(statements, session, spent);
	if (rows === "some") statements.hideSession.run(hiddenKey(), session);
	return { session, rows, files };
}

function hasFiles(statements: Statements, session: number): boolean {
	return (statements.sizeOfFiles.get(session) as { count: number }).count > 0;
}

function storedOrNull(text: string | undefined): string | null {
	return text === undefined ? null : toStored(text);
}
