// Entry point `holdfast/execution-host`: an execution host as one object: runs, checkpoints, notifications, events and a
// scheduler.
export type {
	EnqueueOptions,
	ExecutionHost,
	ExecutionScheduler,
	ExecutionStore,
	ExecutionTransaction,
	RecordingHost,
	ResumeRequest,
} from "./execution-host/execution-host.ts";
export {
	createInMemoryExecutionHost,
	type InMemoryExecutionHostOptions,
	type OwnExecutionHost,
} from "./execution-host/in-memory.ts";
export type {
	ClaimNotificationOptions,
	ClaimNotificationResult,
	EnqueueNotificationResult,
	HeldNotification,
	NewNotification,
	NotificationRecord,
	NotificationStatus,
	NotificationStore,
} from "./execution-host/notification.ts";
export {
	type JournalExecutionOptions,
	journalExecution,
} from "./execution-host/over-journal/journal-execution.ts";
export type { DueOptions, OwnScheduler, ScheduledRun } from "./execution-host/record-scheduler.ts";
export type {
	ListRunsOptions,
	OwnCheckpointStore,
	OwnExecutionStore,
	OwnNotificationStore,
	OwnRunStore,
	OwnTransaction,
} from "./execution-host/record-store.ts";
export type {
	AppendCheckpointResult,
	Checkpoint,
	CheckpointPhase,
	CheckpointStore,
	NewCheckpoint,
	RunPlace,
} from "./execution-host/run-checkpoint.ts";
export type { EventCursor, RunEventStore, StoredRunEvent } from "./execution-host/run-events.ts";
export {
	type ClaimRunOptions,
	type ClaimRunResult,
	isFinal,
	type NewRun,
	type RunLease,
	type RunRecord,
	type RunStatus,
	type RunStore,
} from "./execution-host/run-record.ts";
export type { ExecutionCapabilities } from "./host/host-port.ts";
