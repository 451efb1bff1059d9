// How sessions are named in records of runs: by key and namespace, a sub-agent's by its store key.
import { namespaceOf, readStoreKey, type SessionKeys, storeKeyOf } from "../host/index.ts";
import type { RunRecord } from "./run-record.ts";

/** Identifies a session in a record. */
export type RecordedName = Pick<RunRecord, "sessionKey" | "ownerNamespace">;

/** Whether a run is a sub-agent's. */
export function isOfSubagent({ kind }: Pick<RunRecord, "kind">): boolean {
	return kind === "subagent" || kind === "background-subagent";
}

/** Returns the name of the session with a store key. */
export function recordedName(storeKey: string): RecordedName {
	const { key: sessionKey } = readStoreKey(storeKey);
	const ownerNamespace = namespaceOf(storeKey);
	return ownerNamespace === undefined ? { sessionKey } : { sessionKey, ownerNamespace };
}

/** Returns the name of the session of a run. */
export function nameOfRun(keys: SessionKeys, run: Pick<RunRecord, "kind" | "sessionKey">): RecordedName {
	return recordedName(isOfSubagent(run) ? run.sessionKey : keys.storeKeyOf(run.sessionKey));
}

/** Returns the store key of the session of a recorded run. */
export function storeKeyOfRun(run: RunRecord): string {
	return isOfSubagent(run) ? run.sessionKey : storeKeyOf(run.ownerNamespace, run.sessionKey);
}
