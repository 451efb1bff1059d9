// The port of a durable host: runs, checkpoints, events, notifications and sessions under one transaction, and a
// scheduler. Built-in and custom hosts share this interface. The sessions' journal is authoritative, and the data stored
// here refers to it (keeps I2).
import type { ExecutionCapabilities, Host, SessionStore } from "../host/index.ts";
import type { NotificationStore } from "./notification.ts";
import type { CheckpointStore } from "./run-checkpoint.ts";
import type { RunEventStore } from "./run-events.ts";
import type { RunStore } from "./run-record.ts";

/** When a scheduled run is due. */
export interface EnqueueOptions {
	/** Milliseconds to wait before the run is delivered. Default 0. */
	readonly runAfterMs?: number;
}

/** The reason for resuming a session. */
export interface ResumeRequest {
	/** The run to resume. */
	readonly runId: string;
	/** The notification that the run delivers. */
	readonly notificationId?: string;
	/** Deliveries with the same key count as one. */
	readonly idempotencyKey?: string;
}

/** Ensures that `agent.resume(runId)` is called, now or later, at least once. */
export interface ExecutionScheduler {
	/** Schedules a run, by default at once. */
	enqueueRun(runId: string, options?: EnqueueOptions): Promise<void>;
	/** Schedules a run of this session, for example because a notification arrived. */
	resumeSession(sessionKey: string, request: ResumeRequest): Promise<void>;
}

/** The store within a transaction. */
export interface ExecutionTransaction {
	/** The runs. */
	readonly runs: RunStore;
	/** The positions of runs. */
	readonly checkpoints: CheckpointStore;
	/** The events of runs. */
	readonly events: RunEventStore;
	/** The inputs that do not come from a user. */
	readonly notifications: NotificationStore;
	/** The sessions as JSON. */
	readonly sessions: SessionStore;
}

/** Runs, checkpoints, events and notifications, with transactions over them. */
export interface ExecutionStore extends ExecutionTransaction {
	/** Returns milliseconds since the epoch, by the clock used for claims. Absent: the agent's clock is used. */
	now?(): number;
	/**
	 * Runs `work` on a view of the store that includes its own writes. All of them are committed if it resolves, and none
	 * if it rejects. `work` is called again after a conflict, so it must have no side effects. Calls on the store itself
	 * are not part of the transaction.
	 */
	transaction<T>(work: (transaction: ExecutionTransaction) => Promise<T>): Promise<T>;
}

/** A host that stores runs and their schedules with the sessions. */
export interface ExecutionHost {
	/** Whether background work survives the process. */
	readonly capabilities: ExecutionCapabilities;
	/** Delivers runs. */
	readonly scheduler: ExecutionScheduler;
	/** Stores runs. */
	readonly store: ExecutionStore;
}

/** A host of sessions that also stores runs, checkpoints, events and notifications. */
export interface RecordingHost extends Host {
	/** Stores and schedules the runs. */
	readonly execution: ExecutionHost;
}

/** Returns the execution host of a host; undefined if it keeps no records of runs. */
export function executionOf(host: Host): ExecutionHost | undefined {
	return (host as Partial<RecordingHost>).execution;
}
