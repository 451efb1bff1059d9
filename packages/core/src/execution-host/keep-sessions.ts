// Session states as records, so that they are under the same transaction as runs and notifications.
import type { CommitResult, RecordDraft, StoredSession } from "../host/index.ts";
import type { KeepingPorts } from "./claims.ts";

const shelf = "sessions";

export async function loadSession(draft: RecordDraft, key: string): Promise<StoredSession | null> {
	const stored = (await draft.get(shelf, key)) as StoredSession | undefined;
	return stored === undefined ? null : { state: structuredClone(stored.state), version: stored.version };
}

export async function commitSession(
	draft: RecordDraft,
	ports: KeepingPorts,
	key: string,
	state: unknown,
	expectedVersion: string | null,
): Promise<CommitResult> {
	const stored = (await draft.get(shelf, key)) as StoredSession | undefined;
	if ((stored?.version ?? null) !== expectedVersion) return { ok: false, reason: "conflict" };
	const version = ports.newId();
	draft.put(shelf, key, { state: structuredClone(state), version } satisfies StoredSession);
	return { ok: true, version };
}

export async function deleteSession(draft: RecordDraft, key: string): Promise<void> {
	if ((await draft.get(shelf, key)) !== undefined) draft.put(shelf, key, undefined);
}
