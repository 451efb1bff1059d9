// Operations on runs for any host: they use only the port's own calls, several in one transaction. A process that has
// lost its claim cannot change anything (keeps I4).
import type { ExecutionTransaction } from "./execution-host.ts";
import { isFinal, type NewRun, type RunLease, type RunRecord, type RunStore } from "./run-record.ts";

/** The changeable fields of a run. `lease: null` releases the lease, so the next claim need not wait for its end. */
export type RunChange = Partial<Pick<RunRecord, "status" | "output" | "error" | "checkpointVersion">> & {
	readonly lease?: null;
};

/** The clock and the duration of claims. */
export interface ClaimPorts {
	/** Returns milliseconds since the epoch, by the clock that the host uses for claims. */
	nowMs(): number;
	newId(): string;
	/** How long a run is claimed at a time, in milliseconds. */
	readonly leaseMs: number;
}

type Runs = Pick<ExecutionTransaction, "runs">;

/** Returns undefined for a run that was never recorded. */
async function findRun(runs: RunStore, runId: string): Promise<RunRecord | undefined> {
	return (await runs.get(runId)) ?? undefined;
}

/** Records a run unless it, or one with its dedupe key, exists, so that hosts need not check this themselves. */
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
 * Deletes the record of a turn. Returns false if the host cannot, and for runs that a scheduler may still deliver:
 * notifications and tasks of sub-agents remain recorded as cancelled.
 */
export async function dropRun({ runs }: Runs, runId: string): Promise<boolean> {
	const run = await findRun(runs, runId);
	if (run === undefined) return true;
	if (run.kind !== "user-turn" || runs.delete === undefined) return false;
	await runs.delete(runId);
	return true;
}

/** Claims a run, or returns the reason for refusal: it is claimed, has ended, or is unknown. */
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
	// Some hosts treat only queued runs as free, but a dead process left this one.
	if ((run.lease?.leaseUntilMs ?? 0) > now) return "leased";
	const lease = { attempt, leaseId, leaseUntilMs: now + leaseMs };
	await runs.update({ ...run, status: "leased", lease });
	return lease;
}

/** Renews a claim. Returns false if another process holds it, or the run has ended. */
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

/** Changes a run if `leaseId` is still its lease. An ended run is not changed. */
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
