// A run without its own record, read from the journal: its status and its checkpoints.
import type { Entry } from "../../facts/index.ts";
import { type Journal, type RunLocation, readStoreKey } from "../../host/index.ts";
import { readTaskKey } from "../../subagents/index.ts";
import { CheckpointReader, saidAfter, statusAfter } from "../checkpoints-of.ts";
import { type Checkpoint, checkpointAt, type RunPlace } from "../run-checkpoint.ts";
import type { RunRecord } from "../run-record.ts";

/** Returns the entries of a run, in order; none if it waits to start. */
export async function entriesOf(
	journal: Journal,
	{ place, first, ended }: RunLocation,
): Promise<readonly Entry[]> {
	if (first === undefined) return [];
	const limit = ended === undefined ? {} : { limit: ended - first + 1 };
	return journal.read(place, { after: first - 1, ...limit });
}

/** Returns the record that a run would have. */
export function runOfJournal(runId: string, location: RunLocation, entries: readonly Entry[]): RunRecord {
	const { key, namespace } = readStoreKey(location.place);
	const begun = entries[0]?.fact;
	const task = readTaskKey(location.place);
	const { runKind: kind = task === undefined ? "user-turn" : "background-subagent", parent = undefined } =
		begun?.kind === "run.started" ? begun : {};
	const parentRunId = parent?.runId ?? task?.groupId;
	const change = statusAfter(entries, saidAfter(entries, ""));
	return {
		runId,
		rootRunId: parentRunId ?? runId,
		kind,
		status: change?.status ?? "queued",
		sessionKey: key,
		checkpointVersion: runCheckpoints(runId, location, entries).length,
		...(parentRunId === undefined ? {} : { parentRunId }),
		...(change?.output === undefined ? {} : { output: change.output }),
		...(change?.error === undefined ? {} : { error: change.error }),
		...(task === undefined ? {} : { publicTaskId: task.taskId }),
		...(namespace === undefined ? {} : { ownerNamespace: namespace }),
	};
}

/** Returns the checkpoints of a run. The checkpoint before a model call is at the entry before its answer. */
export function runCheckpoints(
	runId: string,
	location: RunLocation,
	entries: readonly Entry[],
): readonly Checkpoint[] {
	const { key: sessionKey } = readStoreKey(location.place);
	const kind = entries[0]?.fact.kind === "run.started" ? entries[0].fact.runKind : "user-turn";
	const reader = new CheckpointReader(kind);
	const found: RunPlace[] = [];
	for (const { seq, at, fact } of entries) {
		const about = { runId, sessionKey, at };
		if (fact.kind === "assistant") found.push({ ...about, phase: "before-model", seq: seq - 1 });
		found.push(...reader.at({ seq, fact }, about));
	}
	return found.map((place, index) => checkpointAt(place, index + 1));
}
