// resume(runId): called by a scheduler when a run is due. It can be called repeatedly, in any process.
import { HoldfastError, UserMessage } from "@holdfast/upp";
import { acceptInput, entriesBack, leaseLost } from "../facts/index.ts";
import type { Journal, Ports } from "../host/index.ts";
import {
	type AgentRun,
	deliver,
	deliverNotice,
	noticeIdentity,
	recoverSession,
	resumeRun as resumeSessionRun,
	type SessionTable,
} from "../sessions/index.ts";
import { endings } from "./checkpoints-of.ts";
import type { ExecutionHost, ExecutionStore, ExecutionTransaction } from "./execution-host.ts";
import { claimPorts, type HostRecords } from "./host-records.ts";
import type { NotificationRecord } from "./notification.ts";
import { isOfSubagent, storeKeyOfRun } from "./recorded-names.ts";
import { changeRun, claim } from "./run-access.ts";
import { type Checkpoint, checkpointAt } from "./run-checkpoint.ts";
import { isFinal, type RunRecord } from "./run-record.ts";

/** The parts of a resume. */
export interface ResumeParts {
	readonly execution: ExecutionHost;
	readonly journal: Journal;
	readonly table: SessionTable;
	readonly records: HostRecords;
	readonly ports: Ports;
	/** How long a run is claimed at a time, in milliseconds. */
	readonly leaseMs: number;
}

/**
 * Claims a run, and starts or continues it. Returns null if another process owns it, or it has ended. Rejects with
 * `run_not_found` for an unknown id.
 */
export async function resumeRun(parts: ResumeParts, runId: string): Promise<AgentRun | null> {
	const { store } = parts.execution;
	const run = await findRun(store, runId);
	if (parts.table.rootKeyOf(storeKeyOfRun(run)) === undefined) return null; // another agent's
	if (isFinal(run.status)) {
		// Background work that was stopped has ended.
		if (run.kind === "background-subagent") await recoverSession(parts.table, run.sessionKey);
		return null;
	}
	return run.kind === "notification" ? deliverNotification(parts, run) : continueRun(parts, run);
}

async function findRun(store: ExecutionStore, runId: string): Promise<RunRecord> {
	const run = (await store.runs.get(runId)) ?? undefined;
	if (run !== undefined) return run;
	throw new HoldfastError(
		"run_not_found",
		`No run "${runId}" was recorded on this host. Check the id, and that this host scheduled it.`,
		{ data: { runId } },
	);
}

/** Returns the session of a run. */
function queueOf(table: SessionTable, run: RunRecord): ReturnType<SessionTable["queue"]> {
	return table.queue(table.keyOf(storeKeyOfRun(run)) ?? run.sessionKey);
}

interface Claim {
	readonly leaseId: string;
	/** Absent if it is already in the history. */
	readonly notification?: NotificationRecord;
	readonly key: string;
	/** The session it is delivered to; absent until one exists. */
	readonly incarnation?: string;
}

/** Another process owns the claimed work: rolls back the transaction. */
class NotOurs extends Error {}

async function deliverNotification(parts: ResumeParts, run: RunRecord): Promise<AgentRun | null> {
	const { table, records } = parts;
	const { store } = parts.execution;
	const { runId } = run;
	const claimed = await claimNotification(parts, run);
	if (claimed === undefined) return null;
	const { key, leaseId, notification, incarnation } = claimed;
	records.claimed(runId, leaseId);
	const queue = queueOf(table, run);
	try {
		if (notification === undefined) return await continueRun(parts, run); // it is already in the history
		const { shape, message } = acceptInput(notification.input);
		const isFor = incarnation ?? (await makeSession(parts, run, notification));
		// The same notification is always the same message, however often it is delivered.
		const { id, dedupeKey } = noticeIdentity(key);
		const same = new UserMessage([...message.content], { id });
		const input = { shape, message: same, origin: { runKind: "notification" as const } };
		const delivered =
			(await deliver(queue, runId, input, dedupeKey, isFor)) ?? (await deliverNotice(queue, runId, id));
		const handle = delivered ?? (await continueRun(parts, run));
		if (handle === null) await release(store, runId, claimed);
		return handle;
	} catch (error) {
		await release(store, runId, claimed);
		// The session was deleted concurrently; the next claim will detect that.
		if ((error as { code?: unknown }).code === "lease_lost") return deliverNotification(parts, run);
		throw error;
	}
}

/**
 * The journal does not contain the start of the run, so the lease is released: another attempt need not wait for its end.
 */
async function release(store: ExecutionStore, runId: string, { key, leaseId }: Claim): Promise<void> {
	await store.transaction(async (inside) => {
		const changed = await changeRun(inside, runId, { status: "queued", lease: null }, leaseId);
		if (changed === "changed") await inside.notifications.releaseByIdempotencyKey(key, { leaseId });
	});
}

/**
 * Claims a notification for its session: the one that it was created for, or is first delivered to. Returns undefined if
 * another process holds it.
 *
 * @param notedBefore The session that it belonged to before this read of the journal.
 */
async function claimNotification(
	parts: ResumeParts,
	run: RunRecord,
	notedBefore?: string,
): Promise<Claim | undefined> {
	const { execution, journal, ports, leaseMs } = parts;
	const { runId } = run;
	const { seq = 0, incarnation } = (await journal.head(storeKeyOfRun(run))) ?? {};
	const key = run.dedupeKey ?? runId;
	try {
		const claimed = await execution.store.transaction(async (inside) => {
			const { notifications, checkpoints } = inside;
			const isFor =
				(await notifications.getByIdempotencyKey(key))?.incarnation ??
				incarnationAt(await checkpoints.latest(runId));
			if (isFor !== undefined && isFor !== incarnation) {
				// Another worker may have created and recorded that session since the journal was read.
				if (isFor !== notedBefore) return isFor;
				await notifications.acknowledge?.(key);
				await changeRun(inside, runId, { status: "cancelled" });
				return undefined;
			}
			const lease = await claim(inside, runId, claimPorts(execution, { ports, leaseMs }));
			if (typeof lease === "string") throw new NotOurs();
			const { leaseId } = lease;
			const claimed = await notifications.claimByIdempotencyKey(key, { leaseMs, leaseId });
			const existing = claimed.record ?? (await notifications.getByIdempotencyKey(key)) ?? undefined;
			if (existing === undefined || existing.status === "cancelled") throw new NotOurs();
			if (!claimed.ok && notifications.acknowledge !== undefined) {
				if (existing.status !== "acked") throw new NotOurs();
				return { leaseId, key };
			}
			// With permanent claims the claimant may have died, so the run's own claim decides who delivers it.
			const ours = { leaseId, key, notification: existing };
			if (incarnation === undefined) return ours;
			await noteBefore(inside, parts, run, { seq, incarnation, notificationId: existing.notificationId });
			return { ...ours, incarnation };
		});
		return typeof claimed === "string" ? await claimNotification(parts, run, claimed) : claimed;
	} catch (error) {
		if (error instanceof NotOurs) return undefined;
		throw error;
	}
}

/** Creates an empty session for a claimed notification, and records it as the target of the delivery. */
async function makeSession(
	parts: ResumeParts,
	run: RunRecord,
	{ notificationId }: Pick<NotificationRecord, "notificationId">,
): Promise<string> {
	const { execution, journal, ports } = parts;
	const storeKey = storeKeyOfRun(run);
	const acquired = await journal.acquire(storeKey);
	if (acquired.ok) {
		try {
			await acquired.lease.append({ at: ports.clock.now(), runId: run.runId, facts: [] });
			await acquired.lease.release();
		} catch (error) {
			const { code } = error as { code?: unknown };
			// Another process has created it.
			if (code !== "lease_lost" && code !== "session_conflict") throw error;
		}
	}
	const { seq, incarnation } = (await journal.head(storeKey)) ?? {};
	if (seq === undefined || incarnation === undefined) throw leaseLost(storeKey);
	await execution.store.transaction((inside) =>
		noteBefore(inside, parts, run, { seq, incarnation, notificationId }),
	);
	return incarnation;
}

/** Records that a notification is about to be delivered. */
async function noteBefore(
	{ checkpoints }: ExecutionTransaction,
	{ ports }: ResumeParts,
	{ runId, sessionKey }: RunRecord,
	session: { readonly seq: number; readonly incarnation: string; readonly notificationId: string },
): Promise<void> {
	const version = (await checkpoints.latest(runId))?.version ?? 0;
	const at = ports.clock.now();
	const before = checkpointAt(
		{ ...session, runId, sessionKey, at, phase: "before-notification" },
		version + 1,
	);
	await checkpoints.append(before, { expectedVersion: version });
}

/** Returns the session that a notification was previously delivered to. */
function incarnationAt(checkpoint: Checkpoint | null): string | undefined {
	return (checkpoint?.sessionSnapshot as { readonly incarnation?: string } | undefined)?.incarnation;
}

/** Continues a run that the journal contains. */
async function continueRun(parts: ResumeParts, run: RunRecord): Promise<AgentRun | null> {
	const { table } = parts;
	if (isOfSubagent(run)) return unlessHeld(recoverSession(table, run.sessionKey));
	const handle = await resumeSessionRun(queueOf(table, run), run.runId);
	if (handle === null) await settle(parts, run);
	return handle;
}

/** Settles a run that ended in the journal but whose record was not updated, because of a crash in between. */
async function settle({ execution, journal }: ResumeParts, run: RunRecord): Promise<void> {
	const { runId, dedupeKey } = run;
	const status = await endOf(journal, storeKeyOfRun(run), run);
	if (status === undefined) return;
	await execution.store.transaction(async (inside) => {
		await inside.notifications.acknowledge?.(dedupeKey ?? runId);
		await changeRun(inside, runId, { status });
	});
}

/** Returns the outcome of a run according to its session's journal; undefined if it may continue or start. */
async function endOf(
	journal: Journal,
	storeKey: string,
	{ runId, dedupeKey, kind }: RunRecord,
): Promise<RunRecord["status"] | undefined> {
	const { id } = noticeIdentity(dedupeKey ?? runId);
	// Read first: inputs accepted until then are in the history that is read afterwards.
	const mayBegin = kind !== "notification" || (await waits(journal, storeKey, id));
	const head = await journal.head(storeKey);
	if (head?.openRunId === runId) return undefined;
	for await (const { runId: of, fact } of entriesBack(journal, storeKey, head?.seq ?? 0)) {
		if (of === runId && fact.kind === "run.ended") return endings[fact.outcome];
		// Another run has accepted this run's notice.
		if (of !== runId && fact.kind === "input" && fact.inputId === id) return "completed";
		if (fact.kind === "folded" && !mayBegin) return "completed"; // delivered in entries that were folded
	}
	return mayBegin ? undefined : "cancelled"; // a kill or a deletion has removed it
}

async function waits(journal: Journal, storeKey: string, inputId: string): Promise<boolean> {
	return (await journal.inbox(storeKey)).some(({ id }) => id === inputId);
}

async function unlessHeld(run: Promise<AgentRun | null>): Promise<AgentRun | null> {
	try {
		return await run;
	} catch (error) {
		if ((error as { code?: unknown }).code === "session_held") return null;
		throw error;
	}
}
