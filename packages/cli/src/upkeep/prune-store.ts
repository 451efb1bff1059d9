/** Removes expired sessions from a server's store, and folds the old runs of the others. */
import { type PostgresHost, type PostgresHostOptions, postgresHost } from "@holdfast/postgres";
import { readStore, type SessionRemover, sessionRemover } from "@holdfast/postgres/upkeep";
import { readStoreKey } from "holdfast/execute";
import { type DumpTables, foldHistory, fromStored, readChildStoreKey, type StoreDump } from "holdfast/host";
import { inUse, type PruneOptions } from "./prune.ts";
import { type Family, familiesOf, type SeenSession } from "./prune-plan.ts";
import { removeRunRecords } from "./run-records.ts";

/** Entries read at a time, to count how many would be folded. */
const page = 1_000;

interface StoreSession extends SeenSession {
	readonly seq: number;
	readonly incarnation: string;
}

interface Store {
	readonly host: PostgresHost;
	readonly remover: SessionRemover;
	readonly families: readonly Family<StoreSession>[];
}

/**
 * Prunes a store while it is in use, in short transactions. It holds about 300 bytes per session in memory. The store is
 * intact wherever this stops, and the next prune continues.
 */
export async function pruneStore(
	connection: PostgresHostOptions,
	options: Omit<PruneOptions, "path">,
): Promise<void> {
	const host = postgresHost(connection);
	const remover = sessionRemover(connection);
	try {
		const sessions = await readStore(connection, sessionsOf);
		const recorded = await recordedWork(host);
		const families = familiesOf(sessions.map((row) => seen(row, recorded)));
		const store = { host, remover, families };
		await remove(store, options);
		await fold(store, options);
		if (options.mode === "do") await host.journal.sweep();
	} finally {
		await remover.close();
		await host.close();
	}
}

async function sessionsOf(dump: StoreDump): Promise<readonly DumpTables["sessions"][]> {
	const sessions: DumpTables["sessions"][] = [];
	for await (const { table, rows } of dump.rows()) {
		if (table !== "sessions") break; // they come first
		sessions.push(...rows);
	}
	return sessions;
}

function seen(row: DumpTables["sessions"], recorded: ReadonlySet<string>): StoreSession {
	const key = fromStored(row.key);
	const parent = readChildStoreKey(key)?.parentStoreKey;
	const { key: name } = readStoreKey(key);
	return {
		id: row.id,
		storedKey: row.key,
		key,
		name,
		...(parent === undefined ? {} : { parent }),
		epoch: row.epoch,
		changedAt: row.updatedAt,
		seq: row.seq,
		incarnation: row.incarnation,
		entries: row.seq === 0 ? 0 : row.seq - Math.max(row.firstSeq, 1) + 1,
		busy: row.openRun !== null || row.waiting > 0 || recorded.has(name) || recorded.has(key),
		isChild: parent !== undefined,
	};
}

/** Returns the names of sessions with a recorded run that has not ended. */
async function recordedWork({ records, runs }: PostgresHost): Promise<ReadonlySet<string>> {
	const names = new Set<string>();
	for (const shelf of ["unfinished-runs", "scheduled-runs"])
		for (const { name } of await records.list(shelf)) {
			const located = await runs.locate(name);
			// A run that ended in the journal but whose record was not updated does not count.
			if (located?.ended !== undefined) continue;
			const { value } = await records.get({ shelf: "runs", name });
			const { sessionKey } = (value ?? {}) as { sessionKey?: string };
			if (sessionKey !== undefined) names.add(sessionKey);
		}
	return names;
}

async function remove(
	{ host, remover, families }: Store,
	{ removeBefore, keep, mode, stopped, onStep }: Omit<PruneOptions, "path">,
): Promise<void> {
	if (removeBefore === undefined) return;
	for (const family of families.slice(keep)) {
		if (stopped()) return;
		if (family.changedAt >= removeBefore || family.busy) continue;
		const { key: session, members, changedAt } = family;
		const entries = members.reduce((sum, member) => sum + member.entries, 0);
		const step = { session, sessions: members.length, entries, changedAt };
		if (mode === "plan") {
			onStep({ what: "removed", ...step });
			continue;
		}
		const runs = await remover.remove(
			members.map(({ storedKey, epoch, seq, changedAt: updatedAt }) => ({
				key: storedKey,
				epoch,
				seq,
				updatedAt,
			})),
		);
		if (runs !== undefined) {
			await removeRunRecords(host.records, runs);
			for (const { incarnation } of members)
				await host.execution.store.notifications.deleteByIncarnation(incarnation);
		}
		onStep({ what: runs === undefined ? "in-use" : "removed", ...step });
	}
}

async function fold(
	{ host, families }: Store,
	{ foldBefore, removeBefore, keep, mode, stopped, onStep }: Omit<PruneOptions, "path">,
): Promise<void> {
	if (foldBefore === undefined) return;
	for (const [index, family] of families.entries()) {
		if (stopped()) return;
		const goes =
			removeBefore !== undefined && index >= keep && family.changedAt < removeBefore && !family.busy;
		const session = family.members.find(({ isChild }) => !isChild);
		if (goes || session === undefined || session.busy || session.entries < 2) continue;
		const { key, changedAt } = session;
		const ended = await endedBefore(host, key, foldBefore);
		if (ended.entries < 2) continue;
		const step = { session: key, sessions: 1, changedAt };
		if (mode === "plan") {
			onStep({ ...step, what: "folded", entries: ended.entries });
			continue;
		}
		try {
			const folded = await foldHistory(host.journal, key, { before: foldBefore });
			if (folded === undefined) continue;
			const gone: string[] = [];
			for (const run of ended.runs) if ((await host.runs.locate(run)) === undefined) gone.push(run);
			await removeRunRecords(host.records, gone);
			onStep({ ...step, what: "folded", entries: folded.entries });
		} catch (error) {
			// A turn started since: the next prune folds this session.
			if (!inUse.has((error as { code?: unknown }).code)) throw error;
			onStep({ ...step, what: "in-use", entries: ended.entries });
		}
	}
}

/** Counts the entries up to the last run that ended before a time, and returns the runs in them. */
async function endedBefore(
	{ journal }: PostgresHost,
	key: string,
	before: number,
): Promise<{ readonly entries: number; readonly runs: readonly string[] }> {
	const runs = new Set<string>();
	let ended: { entries: number; runs: readonly string[] } = { entries: 0, runs: [] };
	let count = 0;
	for (let after = 0; ; ) {
		const entries = await journal.read(key, { after, limit: page });
		for (const { at, runId, fact } of entries) {
			count++;
			if (fact.kind === "run.started") runs.add(runId);
			if (fact.kind === "run.ended" && at < before) ended = { entries: count, runs: [...runs] };
		}
		const last = entries.at(-1);
		if (last === undefined || entries.length < page) return ended;
		after = last.seq;
	}
}
