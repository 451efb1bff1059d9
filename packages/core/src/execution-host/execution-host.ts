// The port of a durable host: runs, checkpoints, events, notifications and sessions under
// one transaction, and a scheduler. Hosts of ours and of others have this shape; the sessions' journal is the truth, and
// what is kept here refers to it (keeps I2).
import type { ExecutionCapabilities, Host, SessionStore } from "../host/index.ts";
import type { NotificationStore } from "./notification.ts";
import type { CheckpointStore } from "./run-checkpoint.ts";
import type { RunEventStore } from "./run-events.ts";
import type { RunStore } from "./run-record.ts";

/** When a scheduled run is due. */
export interface EnqueueOptions {
	/** Milliseconds from now before which the run is not delivered. Default 0. */
	readonly runAfterMs?: number;
}

/** What a session is to be resumed for. */
export interface ResumeRequest {
	readonly runId: string;
	readonly notificationId?: string;
	/** Deliveries of the same key are one. */
	readonly idempotencyKey?: string;
}

/** Sees to it that somebody calls `agent.resume(runId)`, now or later, at least once. */
export interface ExecutionScheduler {
	enqueueRun(runId: string, options?: EnqueueOptions): Promise<void>;
	resumeSession(sessionKey: string, request: ResumeRequest): Promise<void>;
}

/** What a transaction sees. */
export interface ExecutionTransaction {
	readonly runs: RunStore;
	readonly checkpoints: CheckpointStore;
	readonly events: RunEventStore;
	readonly notifications: NotificationStore;
	readonly sessions: SessionStore;
}

/** Runs, checkpoints, events and notifications, with transactions over them. */
export interface ExecutionStore extends ExecutionTransaction {
	/** Milliseconds since the epoch, by the clock that claims go by. Absent: by the clock of the agent. */
	now?(): number;
	/**
	 * Runs `work` on a view of the store that sees its own writes; they are all committed when it resolves, and none when
	 * it rejects. `work` may be called again when somebody else changed what it had read, so it has no effects of its own.
	 * What is called on the store itself meanwhile does not belong to the transaction.
	 */
	transaction<T>(work: (transaction: ExecutionTransaction) => Promise<T>): Promise<T>;
}

/**
 * A host that owns runs and their scheduling beside the sessions.
 */
export interface ExecutionHost {
	readonly capabilities: ExecutionCapabilities;
	readonly scheduler: ExecutionScheduler;
	readonly store: ExecutionStore;
}

/** A host of sessions that also keeps runs, checkpoints, events and notifications beside its journal. */
export interface RecordingHost extends Host {
	readonly execution: ExecutionHost;
}

/** The execution host beside a host's journal; undefined where it keeps no records of runs. */
export function executionOf(host: Host): ExecutionHost | undefined {
	return (host as Partial<RecordingHost>).execution;
}
