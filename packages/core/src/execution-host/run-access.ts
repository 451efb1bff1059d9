// Operations on runs for any host: they use only the port's own calls, several in one transaction. A process that has
// lost its claim changes nothing (keeps I4).
import type { ExecutionTransaction } from "./execution-host.ts";
import { isFinal, type NewRun, type RunLease, type RunRecord, type RunStore } from "./run-record.ts";

/** The changeable fields of a run. `lease: null` gives up the lease, so the next claim need not wait for its end. */
export type RunChange = Partial<Pick<RunRecord, "status" | "output" | "error" | "checkpointVersion">> & {
	readonly lease?: null;
};

/** Time and names of claims. */
export interface ClaimPorts {
	/** Milliseconds since the epoch, by the clock that the host's claims go by. */
	nowMs(): number;
	newId(): string;
	/** Milliseconds for which a run is claimed at a time. */
	readonly leaseMs: number;
}

type Runs = Pick<ExecutionTransaction, "runs">;

/** Undefined for a run that was never recorded. */
async function findRun(runs: RunStore, runId: string): Promise<RunRecord | undefined> {
	return (await runs.get(runId)) ?? undefined;
}

/** Records a run, unless it or one with its dedupe key exists, so that a host need not check by itself. */
export async function createOnce({ runs }: Runs, run: NewRun): Promise<RunRecord> {
	const { runId, dedupeKey, parentRunId } = run;
	const existing =
		(await findRun(runs, runId)) ??
		(dedupeKey === undefined ? undefined : ((await runs.getByDedupeKey(dedupeKey)) ?? undefined));
	if (existing !== undefined) return existing;
	const parent = parentRunId === undefined ? undefined : await findRun(runs, parentRunId);
	const rootRunId = run.rootRunId ?? parent?.rootRunId ?? parentRunId ?? runId;
	return runs.create({ ...run, rootRunId, checkpointVersion: run.checkpointVersion ?? 0 });
}

/**
 * Deletes the record of a turn. False where the host cannot, and for runs that a scheduler may still deliver: notifications and
 * tasks of sub-agents stay on record as cancelled.
 */
export async function dropRun({ runs }: Runs, runId: string): Promise<boolean> {
	const run = await findRun(runs, runId);
	if (run === undefined) return true;
	if (run.kind !== "user-turn" || runs.delete === undefined) return false;
	await runs.delete(runId);
	return true;
}

/** Claims a run, or returns the reason: it is claimed, has ended, or is unknown. */
export async function claim(
	{ runs }: Runs,
	runId: string,
	{ nowMs, newId, leaseMs }: ClaimPorts,
): Promise<RunLease | "leased" | "ended" | "not-found"> {
	const run = await findRun(runs, runId);
	if (run === undefined) return "not-found";
	if (isFinal(run.status)) return "ended";
	const now = nowMs();
	const [attempt, leaseId] = [(run.lease?.attempt ?? 0) + 1, newId()];
	const claimed = await runs.claim(runId, { attempt, leaseId, leaseMs, nowMs: now });
	if (claimed.ok) return claimed.lease;
	if (claimed.reason !== "not-claimable") return claimed.reason;
	// A host may know queued runs alone as free; this one was left by a process that died.
	if ((run.lease?.leaseUntilMs ?? 0) > now) return "leased";
	const lease = { attempt, leaseId, leaseUntilMs: now + leaseMs };
	await runs.update({ ...run, status: "leased", lease });
	return lease;
}

/** Keeps a claim for another time. False when it is another's, or the run has ended. */
export async function renew(
	{ runs }: Runs,
	runId: string,
	leaseId: string,
	{ nowMs, leaseMs }: ClaimPorts,
): Promise<boolean> {
	const run = await findRun(runs, runId);
	if (run?.lease?.leaseId !== leaseId || isFinal(run.status)) return false;
	await runs.update({ ...run, lease: { ...run.lease, leaseUntilMs: nowMs() + leaseMs } });
	return true;
}

/** Changes a run if `leaseId` still holds it. An ended run is not changed. */
export async function changeRun(
	{ runs }: Runs,
	runId: string,
	change: RunChange,
	leaseId?: string,
): Promise<"changed" | "not-found" | "lease-lost" | "ended"> {
	const run = await findRun(runs, runId);
	if (run === undefined) return "not-found";
	if (isFinal(run.status)) return change.status === run.status ? "changed" : "ended";
	if (leaseId !== undefined && run.lease?.leaseId !== leaseId) return "lease-lost";
	const { lease: given, ...others } = change;
	const { lease, ...rest } = run;
	const changed: RunRecord = { ...rest, ...others };
	// A released lease still counts the attempts.
	const kept = given === null && lease !== undefined ? { ...lease, leaseUntilMs: 0 } : lease;
	await runs.update(kept === undefined || isFinal(changed.status) ? changed : { ...changed, lease: kept });
	return "changed";
}
