// The port of a durable host (keyed sessions, ExecutionHost): runs, checkpoints, events, notifications and sessions under
// one transaction, and a scheduler. Hosts of ours and of others have this shape; the sessions' journal is the truth, and
// what stands here refers to it (keeps I2).
import type { SessionStore } from "../session-store/session-store.ts";
import type { CheckpointStore } from "./checkpoint.ts";
import type { NotificationStore } from "./notification.ts";
import type { RunEventStore } from "./run-events.ts";
import type { RunStore } from "./run-record.ts";

/** What a host can do beside keeping things. */
export interface ExecutionCapabilities {
	/**
	 * Whether sub-agents may work in the background: `durable` when their runs survive the process, `in-process` when they
	 * live as long as it does. Absent: they may not, and the model is offered blocking delegation only.
	 */
	readonly backgroundSubagents?: "durable" | "in-process";
}

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

export interface ExecutionStore extends ExecutionTransaction {
	/**
	 * Runs `work` on a view of the store that sees its own writes; they stand when it resolves, all of them, and none when
	 * it rejects. `work` may be called again when somebody else changed what it had read, so it has no effects of its own.
	 * What is called on the store itself meanwhile does not belong to the transaction.
	 */
	transaction<T>(work: (transaction: ExecutionTransaction) => Promise<T>): Promise<T>;
}

/**
 * A host that owns runs and their scheduling beside the sessions.
 *
 * @see keyed sessions "Session storage and portability", "Checkpoints and Cancellation"
 */
export interface ExecutionHost {
	readonly capabilities: ExecutionCapabilities;
	readonly scheduler: ExecutionScheduler;
	readonly store: ExecutionStore;
}
