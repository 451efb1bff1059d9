// holdfast/execution: strategies, and what custom ones are made of.
export {
	type CreateSubAgentToolOptions,
	createSubAgentTool,
	type SubAgentTool,
	type SubAgentToolRun,
} from "./agent/create-sub-agent-tool.ts";
export type {
	Action,
	AskAction,
	Decider,
	FinishAction,
	ModelAction,
	NoteAction,
	QuestionContext,
	RequestedCall,
	Situation,
	ToolsAction,
	WaitAction,
} from "./engine/action.ts";
export type {
	EnqueueOptions,
	ExecutionHost,
	ExecutionScheduler,
	ExecutionStore,
	ExecutionTransaction,
	ResumeRequest,
} from "./execution-host/execution-host.ts";
export type { InMemoryExecutionHostOptions, OwnExecutionHost } from "./execution-host/in-memory.ts";
export { createInMemoryExecutionHost } from "./execution-host/in-memory.ts";
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
export type {
	ClaimRunOptions,
	ClaimRunResult,
	NewRun,
	RunLease,
	RunRecord,
	RunStatus,
	RunStore,
} from "./execution-host/run-record.ts";
export type { ExecutionCapabilities } from "./host/host-port.ts";
export { compileSchema } from "./schema/compile-schema.ts";
export { formatIssues, type Issue } from "./schema/issue.ts";
export { List } from "./state/list.ts";
export type { ExecutionPlan, PlanStep, PlanStepStatus } from "./state/plan-step.ts";
export type {
	AgentRef,
	DecidingStrategy,
	ExecutionContext,
	ExecutionResult,
	ExecutionStrategy,
	StrategyAgent,
} from "./strategies/execution-strategy.ts";
export { type LoopOptions, loop } from "./strategies/loop.ts";
export { type PlanOptions, plan } from "./strategies/plan.ts";
export { type ReactOptions, react } from "./strategies/react.ts";
export { strategy } from "./strategies/strategy.ts";
export {
	executeOrderedToolCalls,
	type ToolExecutionResult,
	type ToolExecutor,
} from "./tools/execute-ordered.ts";
export {
	type ExecutionGroup,
	hasCallDependencies,
	hasToolDependencies,
	type OrderedToolCall,
	orderToolCalls,
	type ToolDependencyOptions,
	type ToolWithDependencies,
} from "./tools/execution-groups.ts";
export type {
	OnSubagentEvent,
	SubagentEndEvent,
	SubagentEvent,
	SubagentEventBase,
	SubagentEventType,
	SubagentInnerEvent,
	SubagentStartEvent,
} from "./tools/subagent-event.ts";
export {
	type ContextAwareToolRun,
	type InjectToolContextOptions,
	injectToolContext,
	isContextAwareTool,
	type ToolExecutionContext,
	withToolContext,
} from "./tools/tool-context.ts";
