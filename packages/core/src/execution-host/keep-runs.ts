// Runs as records: created once, claimed by one worker at a time, and never changed after their end.

import { HoldfastError } from "@holdfast/upp";
import { isUnreadable } from "../facts/index.ts";
import type { RecordDraft } from "../host/index.ts";
import { numbered } from "../host/index.ts";
import { claimUntil, isClaimed, type KeepingPorts } from "./claims.ts";
import {
	type ClaimRunOptions,
	type ClaimRunResult,
	isFinal,
	type NewRun,
	type RunLease,
	type RunRecord,
} from "./run-record.ts";

/** Shelf of the runs that have not ended, by id. */
export const unfinishedShelf = "unfinished-runs";

export async function createRun(draft: RecordDraft, given: NewRun): Promise<RunRecord> {
	const { runId, parentRunId, dedupeKey } = given;
	const existing = (await getRun(draft, runId)) ?? (await getByDedupeKey(draft, dedupeKey));
	if (existing !== null) return existing;
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
	return run;
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
	const runs = new Map<string, RunRecord>();
	for (const [, runId] of await draft.list(`children ${parentRunId}`)) {
		const run = await getRun(draft, runId as string);
		if (run !== null) runs.set(run.runId, run);
	}
	return [...runs.values()];
}

export async function claimRun(
	draft: RecordDraft,
	ports: KeepingPorts,
	runId: string,
	options: ClaimRunOptions = {},
): Promise<ClaimRunResult> {
	const run = await getRun(draft, runId);
	if (run === null) return { ok: false, reason: "not-found" };
	if (isFinal(run.status)) return { ok: false, reason: "not-claimable" };
	const { lease: held } = run;
	const { leaseId = ports.newId(), leaseMs, nowMs = ports.now() } = options;
	const timed = { ...ports, now: () => nowMs };
	const isOwn = held?.leaseId === leaseId;
	if (!isOwn && (await isClaimed(timed, held))) return { ok: false, reason: "leased" };
	const next = isOwn ? held.attempt : (held?.attempt ?? 0) + 1;
	const lease: RunLease = { attempt: options.attempt ?? next, leaseId, ...claimUntil(timed, leaseMs) };
	const record: RunRecord = { ...run, status: isOwn ? run.status : "leased", lease };
	putRun(draft, record);
	return { ok: true, lease, record };
}

export async function updateRun(draft: RecordDraft, given: RunRecord): Promise<RunRecord> {
	const run = await getRun(draft, given.runId);
	if (run === null) throw notRecorded(given.runId);
	if (isFinal(run.status)) {
		// The status may come from the run's journal, which may be deleted.
		if (given.status === run.status) putRun(draft, run);
		return run;
	}
	const { lease, ...rest } = withoutUndefined(given);
	const updated: RunRecord = lease === undefined || isFinal(rest.status) ? rest : { ...rest, lease };
	putRun(draft, updated);
	return updated;
}

/** Records that a checkpoint of the run was stored. */
export async function moveCheckpoint(draft: RecordDraft, runId: string, version: number): Promise<void> {
	const run = await getRun(draft, runId);
	if (run !== null && !isFinal(run.status)) putRun(draft, { ...run, checkpointVersion: version });
}

/** Marks a run that ended according to its journal, so that it is not examined again. */
export function noteEnd(draft: RecordDraft, run: RunRecord): void {
	putRun(draft, run);
}

/** Keeps only the fact that a run has ended, so that a worker about to start it does not. */
export async function forgetRun(draft: RecordDraft, runId: string): Promise<void> {
	const run = await getRun(draft, runId);
	if (run === null) return;
	const { output: _output, error: _error, lease: _lease, ...rest } = run;
	putRun(draft, { ...rest, status: isFinal(run.status) ? run.status : "cancelled" });
	await dropParts(draft, run);
}

/** Deletes a run and its data. Runs that it started keep their own records. */
export async function deleteRun(draft: RecordDraft, runId: string): Promise<void> {
	const run = await getRun(draft, runId);
	if (run === null) return;
	for (const shelf of ["runs", unfinishedShelf, "child-counts"]) draft.put(shelf, runId, undefined);
	const children = `children ${runId}`;
	for (const name of await namesOn(draft, children)) draft.put(children, name, undefined);
	await dropParts(draft, run);
}

async function dropParts(draft: RecordDraft, { runId, dedupeKey }: RunRecord): Promise<void> {
	if (dedupeKey !== undefined) draft.put("run-dedupe", dedupeKey, undefined);
	for (const shelf of [`checkpoints ${runId}`, `events ${runId}`])
		for (const name of await namesOn(draft, shelf)) draft.put(shelf, name, undefined);
	for (const shelf of ["checkpoints", "event-counts"]) draft.put(shelf, runId, undefined);
}

/** Returns the names on a shelf. For a damaged journal, returns none, so that its session can be deleted. */
async function namesOn(draft: RecordDraft, shelf: string): Promise<readonly string[]> {
	try {
		return (await draft.list(shelf)).map(([name]) => name);
	} catch (error) {
		if (isUnreadable(error)) return [];
		throw error;
	}
}

function putRun(draft: RecordDraft, run: RunRecord): void {
	draft.put("runs", run.runId, Object.freeze(run));
	draft.put(unfinishedShelf, run.runId, isFinal(run.status) ? undefined : run.status);
}

function notRecorded(runId: string): HoldfastError {
	return new HoldfastError(
		"run_not_found",
		`No run "${runId}" was recorded on this host, so there is nothing to update. Create it first.`,
		{ data: { runId } },
	);
}

function withoutUndefined<T extends object>(given: T): T {
	return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}
