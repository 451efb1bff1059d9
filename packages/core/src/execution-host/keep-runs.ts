// Runs as records: created once, claimed by one at a time, and never changed after their end.

import type { RecordDraft } from "../host/index.ts";
import { numbered } from "../host/index.ts";
import { claimUntil, isClaimed, type KeepingPorts } from "./claims.ts";
import {
	type ClaimRunOptions,
	type ClaimRunResult,
	type CreateRunResult,
	isFinal,
	type NewRun,
	type RunChange,
	type RunLease,
	type RunRecord,
	type UpdateRunOptions,
	type UpdateRunResult,
} from "./run-record.ts";

/** Shelf of the runs that have not ended, by id. */
export const unfinishedShelf = "unfinished-runs";

export async function createRun(draft: RecordDraft, given: NewRun): Promise<CreateRunResult> {
	const { runId, parentRunId, dedupeKey } = given;
	const existing = (await getRun(draft, runId)) ?? (await getByDedupeKey(draft, dedupeKey));
	if (existing !== null) return { ok: false, reason: "exists", run: existing };
	const parent = parentRunId === undefined ? null : await getRun(draft, parentRunId);
	const rootRunId = given.rootRunId ?? parent?.rootRunId ?? parentRunId ?? runId;
	const run: RunRecord = {
		...withoutUndefined(given),
		rootRunId,
		checkpointVersion: given.checkpointVersion ?? 0,
	};
	putRun(draft, run);
	if (dedupeKey !== undefined) draft.put("run-dedupe", dedupeKey, runId);
	if (parentRunId !== undefined) {
		const count = (((await draft.get("child-counts", parentRunId)) as number | undefined) ?? 0) + 1;
		draft.put("child-counts", parentRunId, count);
		draft.put(`children ${parentRunId}`, numbered(count), runId);
	}
	return { ok: true, run };
}

export async function getRun(draft: RecordDraft, runId: string): Promise<RunRecord | null> {
	return ((await draft.get("runs", runId)) as RunRecord | undefined) ?? null;
}

export async function getByDedupeKey(
	draft: RecordDraft,
	dedupeKey: string | undefined,
): Promise<RunRecord | null> {
	if (dedupeKey === undefined) return null;
	const runId = (await draft.get("run-dedupe", dedupeKey)) as string | undefined;
	return runId === undefined ? null : getRun(draft, runId);
}

export async function listByParentRunId(draft: RecordDraft, parentRunId: string): Promise<RunRecord[]> {
	const runs: RunRecord[] = [];
	for (const [, runId] of await draft.list(`children ${parentRunId}`)) {
		const run = await getRun(draft, runId as string);
		if (run !== null) runs.push(run);
	}
	return runs;
}

export async function claimRun(
	draft: RecordDraft,
	ports: KeepingPorts,
	runId: string,
	options: ClaimRunOptions = {},
): Promise<ClaimRunResult> {
	const run = await getRun(draft, runId);
	if (run === null) return { ok: false, reason: "not-found" };
	if (isFinal(run.status)) return { ok: false, reason: "final" };
	const claim = claimUntil(ports, options.leaseMs);
	const { lease } = run;
	if (options.leaseId !== undefined) {
		if (lease?.leaseId !== options.leaseId) return { ok: false, reason: "lease-lost" };
		const renewed = { ...run, lease: { ...lease, ...claim } };
		putRun(draft, renewed);
		return { ok: true, run: renewed };
	}
	if (await isClaimed(ports, lease)) return { ok: false, reason: "leased" };
	const taken: RunLease = { attempt: (lease?.attempt ?? 0) + 1, leaseId: ports.newId(), ...claim };
	const claimed = { ...run, status: "leased" as const, lease: taken };
	putRun(draft, claimed);
	return { ok: true, run: claimed };
}

export async function updateRun(
	draft: RecordDraft,
	runId: string,
	change: RunChange,
	options: UpdateRunOptions = {},
): Promise<UpdateRunResult> {
	const run = await getRun(draft, runId);
	if (run === null) return { ok: false, reason: "not-found" };
	if (isFinal(run.status))
		return change.status === run.status ? { ok: true, run } : { ok: false, reason: "final" };
	if (options.leaseId !== undefined && run.lease?.leaseId !== options.leaseId)
		return { ok: false, reason: "lease-lost" };
	const { lease, ...others } = withoutUndefined(change);
	const { lease: held, ...rest } = { ...run, ...others };
	const keepsLease = held !== undefined && !isFinal(rest.status);
	// A lease given up still counts the attempts.
	const kept = lease === null && held !== undefined ? { ...held, leaseUntilMs: 0 } : held;
	const updated: RunRecord = keepsLease ? { ...rest, lease: kept as RunLease } : rest;
	putRun(draft, updated);
	return { ok: true, run: updated };
}

/** A run that ended by its journal is not looked for again. */
export function noteEnd(draft: RecordDraft, run: RunRecord): void {
	putRun(draft, run);
}

function putRun(draft: RecordDraft, run: RunRecord): void {
	draft.put("runs", run.runId, Object.freeze(run));
	draft.put(unfinishedShelf, run.runId, isFinal(run.status) ? undefined : run.status);
}

function withoutUndefined<T extends object>(given: T): T {
	return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}
