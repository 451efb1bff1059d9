// Ends or removes a session and all of its child sessions. Each end is recorded before it takes effect in this process
// (keeps I4).
import { isAwaitedBy, withinCall } from "../engine/index.ts";
import { entriesAfter, isUnreadable } from "../facts/index.ts";
import { childPrefix, type Journal, type MaybePromise, readChildStoreKey } from "../host/index.ts";
import { killSession } from "./kill-session.ts";
import { processKey } from "./local-store.ts";
import { awaitsItself } from "./session-errors.ts";
import type { SessionQueue } from "./session-queue.ts";
import type { EndReason, SessionRecords } from "./session-records.ts";
import type { SessionTable } from "./session-table.ts";
import { storeKeysWith } from "./store-keys.ts";

/** Ends the runs of a session and of its child sessions. The next handle gets a new queue. */
export async function kill(table: SessionTable, queue: SessionQueue): Promise<void> {
	await end(table, queue, () => recordKill(table, queue.storeKey, "killed"));
}

/** Ends the runs of a child session whose parent is deleted. */
async function killForDeletion(table: SessionTable, queue: SessionQueue): Promise<void> {
	await end(table, queue, () => recordKill(table, queue.storeKey, "deleted"));
}

/** Ends a session's work. Later requests wait until that is done. */
async function end(table: SessionTable, asked: SessionQueue, recordEnd: () => Promise<void>): Promise<void> {
	// A handle that was used before the last kill ends the current session of the key.
	const queue = table.queueOf(asked.storeKey, asked.key);
	await table.fence(queue, (before) => queue.actor.kill(before, recordEnd));
}

/** Removes a session and its child sessions. */
export async function remove(table: SessionTable, queue: SessionQueue): Promise<void> {
	const { storeKey, key } = queue;
	const deletion = `deletion of ${processKey(table.local, storeKey)}`;
	// A plugin that is being notified of the deletion would be notified again.
	if (isAwaitedBy(deletion)) throw awaitsItself(key);
	await end(table, queue, async () => {
		while (!(await removeEntries(table, storeKey))) await table.agent.engine.fairness.pause();
	});
	await table.agent.setup?.over();
	await withinCall(deletion, () => table.agent.policy?.deleted(key));
}

/**
 * Ends a session's runs and removes it, child sessions first. Work for a sub-agent is accepted only while the requesting
 * run is open, so no new work can arrive once the runs have ended, unless another run starts. In that case returns false,
 * and the session still exists.
 */
async function removeEntries(table: SessionTable, storeKey: string): Promise<boolean> {
	const { journal } = table;
	await recordKill(table, storeKey, "deleted");
	const seen = await readable(() => journal.head(storeKey));
	if (seen === "unreadable") {
		await eachChild(table, storeKey, remove);
		await journal.delete(storeKey);
		return true;
	}
	if (seen === undefined) return true;
	if (seen.openRunId !== undefined) return false;
	await eachChild(table, storeKey, remove);
	try {
		await journal.delete(storeKey, seen);
	} catch (error) {
		if ((error as { code?: unknown }).code !== "lease_lost") throw error;
		return false;
	}
	// Only sessions with a caller's key are notified. Later notifications detect that the session is deleted.
	if (table.callersKeyOf(storeKey) !== undefined) await table.records?.deleted(seen.incarnation);
	return true;
}

/** Records the end of a session's runs, then of its children's. A failure for one does not keep the others open. */
async function recordKill(table: SessionTable, storeKey: string, why: EndReason): Promise<void> {
	const { journal, agent, records } = table;
	try {
		// The end of the open run is recorded before anything stops. Later inputs are not affected.
		const head = records === undefined ? undefined : await readable(() => journal.head(storeKey));
		// The session can be neither continued nor appended to.
		if (head === "unreadable") return;
		const openRunId = head?.openRunId;
		if (openRunId !== undefined) await records?.cancelled([openRunId], storeKey, why);
		const ended = await killSession(journal, storeKey, agent.engine).catch(async (error: unknown) => {
			if (isUnreadable(error) && (await readable(() => journal.head(storeKey))) === "unreadable") return [];
			throw error;
		});
		await records?.cancelled(ended, storeKey, why);
	} finally {
		await eachChild(table, storeKey, why === "killed" ? kill : killForDeletion);
	}
}

/** Ends the runs of a session's child sessions. */
export async function killChildren(table: SessionTable, storeKey: string): Promise<void> {
	await eachChild(table, storeKey, kill);
}

async function eachChild(
	table: SessionTable,
	storeKey: string,
	end: (table: SessionTable, child: SessionQueue) => Promise<void>,
): Promise<void> {
	const failures: unknown[] = [];
	const { children } = table.agent;
	for (const { journal, records } of [table, ...(children?.elsewhere() ?? [])]) {
		for await (const child of childrenOf(table.journal, storeKey, journal, records)) {
			// A sub-agent that was removed from the agent has left its sessions in the store.
			const its = children?.tableOf(readChildStoreKey(child)?.subagent ?? "") ?? table;
			await end(its, its.queueOf(child, child)).catch((error) => failures.push(error));
		}
	}
	if (failures.length > 0) throw failures[0];
}

/** Yields store keys of the child sessions in a journal: the listed ones, and those in separate records. */
async function* childrenOf(
	parents: Journal,
	storeKey: string,
	journal: Journal,
	records: SessionRecords | undefined,
): AsyncGenerator<string, void, void> {
	const prefix = childPrefix(storeKey);
	const known = new Set<string>();
	for await (const child of storeKeysWith(journal, prefix)) {
		known.add(child);
		yield child;
	}
	// A journal that lists its sessions has already listed the children.
	if (records === undefined || records.children.doneBy === "starter") return;
	for (const runId of await startedIn(parents, storeKey)) {
		for (const child of await records.children.placesOf(runId)) {
			if (known.has(child) || !child.startsWith(prefix)) continue;
			known.add(child);
			yield child;
		}
	}
}

/** Returns the runs of a session that can be read. */
async function startedIn(journal: Journal, storeKey: string): Promise<readonly string[]> {
	const runs: string[] = [];
	await readable(async () => {
		for await (const { runId, fact } of entriesAfter(journal, storeKey, 0))
			if (fact.kind === "run.started") runs.push(runId);
	});
	return runs;
}

/** Returns "unreadable" for a damaged session, so that its runs are ended and it is removed like any other. */
async function readable<T>(read: () => MaybePromise<T>): Promise<T | "unreadable"> {
	try {
		return await read();
	} catch (error) {
		if (isUnreadable(error)) return "unreadable";
		throw error;
	}
}
