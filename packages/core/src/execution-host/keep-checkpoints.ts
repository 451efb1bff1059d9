// Checkpoints as records: a sequence of versions for each run, without gaps.

import { numbered, type RecordDraft } from "../host/index.ts";
import { moveCheckpoint } from "./keep-runs.ts";
import type { AppendCheckpointResult, Checkpoint, NewCheckpoint } from "./run-checkpoint.ts";

export async function appendCheckpoint(
	draft: RecordDraft,
	given: NewCheckpoint,
	expectedVersion: number,
): Promise<AppendCheckpointResult> {
	const { runId } = given;
	const currentVersion = (await latestCheckpoint(draft, runId))?.version ?? 0;
	if (currentVersion !== expectedVersion) return { ok: false, reason: "stale-version", currentVersion };
	const version = currentVersion + 1;
	const { checkpointId = `${runId}.${version}`, runtimeState = null, sessionSnapshot = null } = given;
	const checkpoint: Checkpoint = Object.freeze({
		...given,
		checkpointId,
		version,
		runtimeState,
		sessionSnapshot,
	});
	draft.put("checkpoints", runId, checkpoint);
	draft.put(`checkpoints ${runId}`, numbered(version), checkpoint);
	await moveCheckpoint(draft, runId, version);
	return { ok: true, version };
}

export async function latestCheckpoint(draft: RecordDraft, runId: string): Promise<Checkpoint | null> {
	return ((await draft.get("checkpoints", runId)) as Checkpoint | undefined) ?? null;
}

export async function listCheckpoints(draft: RecordDraft, runId: string): Promise<readonly Checkpoint[]> {
	return (await draft.list(`checkpoints ${runId}`)).map(([, checkpoint]) => checkpoint as Checkpoint);
}
