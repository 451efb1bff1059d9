// Work of sub-agents on an execution host: one record each, scheduled if it continues in the background, and
// notifications of its end.
import type { SessionKeys } from "../host/index.ts";
import { type ChildRecords, noticeIdentity, type RecordedTask } from "../sessions/index.ts";
import type { ExecutionHost, ExecutionStore } from "./execution-host.ts";
import { ownScheduler } from "./record-scheduler.ts";
import { recordedName } from "./recorded-names.ts";
import { createOnce } from "./run-access.ts";
import type { NewRun } from "./run-record.ts";

const none: readonly string[] = [];

/** Records of the child sessions that one agent's sessions start. */
export function childRecords(
	host: ExecutionHost,
	keys: SessionKeys,
	doneBy: ChildRecords["doneBy"],
): ChildRecords {
	const { scheduler, store } = host;
	return {
		doneBy,
		async accepted(task, by) {
			if (doneBy === "starter") return; // its inbox and its entries say so
			const root = await rootOf(store, task.parentRunId);
			await createOnce(store, newChildRun(task, root));
			if (by === "scheduled") await scheduler.enqueueRun(task.runId);
		},
		async placesOf(runId) {
			if (doneBy === "starter") return none; // such a journal lists its sessions
			const runs = await store.runs.listByParentRunId(runId);
			return [...new Set(runs.map(({ sessionKey }) => sessionKey))];
		},
		async notify({ key, sessionKey, incarnation, text }) {
			const runId = noticeIdentity(key).id;
			const name = recordedName(keys.storeKeyOf(sessionKey));
			const ids = { notificationId: key, idempotencyKey: key, runId };
			const { notifications } = store;
			const enqueued = await notifications.enqueue({
				...ids,
				incarnation,
				input: text,
				status: "pending",
				...name,
			});
			// On a host with permanent claims, this is all that can be reported: its scheduler was asked before the
			// claim.
			if (!enqueued.ok && (await notifications.getByIdempotencyKey(key))?.status !== "pending") return;
			await createOnce(store, { runId, kind: "notification", status: "queued", dedupeKey: key, ...name });
			await scheduler.resumeSession(name.sessionKey, { runId, notificationId: key, idempotencyKey: key });
			// Deleted with its session before it was scheduled.
			if ((await notifications.getByIdempotencyKey(key)) === null) await ownScheduler(host)?.settle(runId);
		},
	};
}

/** Returns the root run. Only the id of a run that a call started contains a point; other runs need no lookup. */
async function rootOf({ runs }: ExecutionStore, parentRunId: string): Promise<string> {
	if (!parentRunId.includes(".")) return parentRunId;
	return (await runs.get(parentRunId))?.rootRunId ?? parentRunId;
}

function newChildRun({ said: _, ...task }: RecordedTask, rootRunId: string): NewRun {
	return { ...task, rootRunId, status: "queued", dedupeKey: task.runId, ...recordedName(task.sessionKey) };
}
