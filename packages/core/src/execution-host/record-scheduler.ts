// The scheduler of a built-in host: due runs are stored with the records, and workers query them. Delivery is at least
// once; the claim ensures that a run is processed once.

import { onDraft, type RecordDraft, type RecordSpace } from "../host/index.ts";
import type { KeepingPorts } from "./claims.ts";
import type { ExecutionHost, ExecutionScheduler } from "./execution-host.ts";

const shelf = "scheduled-runs";

/** A run to be resumed. */
export interface ScheduledRun {
	/** The run to resume. */
	readonly runId: string;
	/** The time at which to resume it, in milliseconds since the epoch, by the host's clock. */
	readonly dueAtMs: number;
	/** The session of the run, if `resumeSession` scheduled it. */
	readonly sessionKey?: string;
	/** The notification that it delivers. */
	readonly notificationId?: string;
}

/** Options for reading due runs. */
export interface DueOptions {
	/** The maximum number. Default: all. */
	readonly limit?: number;
}

/** A scheduler that can list due runs. */
export interface OwnScheduler extends ExecutionScheduler {
	/** Returns due runs, the earliest first. They remain until they are settled. */
	due(options?: DueOptions): Promise<readonly ScheduledRun[]>;
	/** Returns everything scheduled, due or not, the earliest first. */
	list(): Promise<readonly ScheduledRun[]>;
	/** Marks the run as needing no further delivery. */
	settle(runId: string): Promise<void>;
	/** Calls `scheduled` after this process has scheduled something. Returns a function that stops it. */
	watch(scheduled: () => void): () => void;
}

/** Returns a host's scheduler, if it can list due runs; undefined if it delivers them itself. */
export function ownScheduler({ scheduler }: ExecutionHost): OwnScheduler | undefined {
	return "due" in scheduler ? (scheduler as OwnScheduler) : undefined;
}

/** Creates the scheduler over a space of records. */
export function recordScheduler(space: RecordSpace, ports: KeepingPorts): OwnScheduler {
	const watchers = new Set<() => void>();
	async function add(run: ScheduledRun): Promise<void> {
		await onDraft(space, (draft) => schedule(draft, run));
		for (const notify of watchers) notify();
	}
	async function list(): Promise<ScheduledRun[]> {
		const runs = await onDraft(space, (draft) => draft.list(shelf));
		return runs.map(([, run]) => run as ScheduledRun).sort((one, other) => one.dueAtMs - other.dueAtMs);
	}
	return {
		enqueueRun: (runId, { runAfterMs = 0 } = {}) => add({ runId, dueAtMs: ports.now() + runAfterMs }),
		resumeSession(sessionKey, { runId, notificationId }) {
			const about = notificationId === undefined ? {} : { notificationId };
			return add({ runId, dueAtMs: ports.now(), sessionKey, ...about });
		},
		async due({ limit } = {}) {
			const now = ports.now();
			return (await list()).filter((run) => run.dueAtMs <= now).slice(0, limit);
		},
		list,
		settle: (runId) => onDraft(space, (draft) => unschedule(draft, runId)),
		watch(scheduled) {
			watchers.add(scheduled);
			return () => watchers.delete(scheduled);
		},
	};
}

/** Removes a run from the schedule. */
export async function unschedule(draft: RecordDraft, runId: string): Promise<void> {
	if ((await draft.get(shelf, runId)) !== undefined) draft.put(shelf, runId, undefined);
}

/** Schedules a run. If it is already scheduled, the earlier time applies. */
async function schedule(draft: RecordDraft, run: ScheduledRun): Promise<void> {
	const existing = (await draft.get(shelf, run.runId)) as ScheduledRun | undefined;
	if (existing === undefined || run.dueAtMs < existing.dueAtMs) draft.put(shelf, run.runId, run);
}
