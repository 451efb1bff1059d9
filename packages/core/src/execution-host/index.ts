// Door of the execution host: the ports of a durable host, and the one in memory.
export { adaptExecutionHost } from "./adapt-host.ts";
export { type AgentExecution, agentExecution } from "./agent-execution.ts";
export type * from "./checkpoint.ts";
export type * from "./execution-host.ts";
export {
	createInMemoryExecutionHost,
	type InMemoryExecutionHostOptions,
	type OwnExecutionHost,
} from "./in-memory.ts";
export type * from "./notification.ts";
export type { DueOptions, OwnScheduler, ScheduledRun } from "./record-scheduler.ts";
export type {
	ListRunsOptions,
	OwnCheckpointStore,
	OwnExecutionStore,
	OwnRunStore,
	OwnTransaction,
} from "./record-store.ts";
export type * from "./run-events.ts";
export type * from "./run-record.ts";
