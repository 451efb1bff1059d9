// The main entry: agents, their state, their runs. Types of the model layer come from @holdfast/upp (reading 7).

export { HoldfastError, isHoldfastError } from "@holdfast/upp";
export { Agent, agent } from "./agent/agent.ts";
export type { CallOptions } from "./agent/agent-call.ts";
export type { AgentTypes, InferOutput, InferTools } from "./agent/agent-types.ts";
export { createLlm, type RuntimeCreateLlmOptions } from "./agent/create-llm.ts";
export {
	type CreateSubAgentToolOptions,
	createSubAgentTool,
	type SubAgentTool,
	type SubAgentToolRun,
} from "./agent/create-sub-agent-tool.ts";
export type { ModelMessage, ModelMessagePart } from "./agent/model-messages.ts";
export type { AgentOptions } from "./agent/options.ts";
export type { AgentHost, SessionStoreHost } from "./agent/resolve-host.ts";
export type { RuntimeLlm, RuntimeLlmContext, RuntimeLlmOutput } from "./agent/runtime-llm.ts";
export type { AgentToolChoice } from "./agent/tool-choice.ts";
export type { Caller } from "./caller/caller.ts";
export type { CheckpointData, CheckpointMetadata, CheckpointStore } from "./checkpoint/checkpoint-store.ts";
export type { AgentStreamResult } from "./engine/agent-stream-result.ts";
export type { AgentStrategy, Observation } from "./engine/engine-agent.ts";
export type { ModelWaitOptions } from "./engine/model-wait.ts";
export type { AgentStreamEvent, UAPEvent, UAPEventType } from "./engine/uap-events.ts";
export {
	type AgentContext,
	type AgentSession,
	createSession,
	type ExecuteOptions,
	execute,
	type PromptOptions,
	type ToolAnswerMessage,
} from "./execute/create-session.ts";
export type {
	ExecuteEvent,
	PendingSessionCall,
	SessionStatus,
	SessionWait,
} from "./execute/execute-event.ts";
export type { ExecuteResult, ExecuteStream } from "./execute/execute-stream.ts";
export type { AbortedMessage, ErrorMessage, SessionMessage } from "./execute/session-message.ts";
export type { AgentEvent } from "./facts/agent-event.ts";
export type { RunEvent } from "./facts/events.ts";
export type {
	CallPathStep,
	Entry,
	ErrorData,
	Fact,
	Placement,
	RunKind,
	RunOutcome,
	ToolCallOutcome,
} from "./facts/fact.ts";
export type { SendInput } from "./facts/input.ts";
export type { InputPart, WrappedData } from "./facts/input-part.ts";
export type {
	JobStatus,
	SubagentJobEnd,
	SubagentJobEvent,
	SubagentJobStart,
	SubagentJobUpdate,
} from "./facts/job-events.ts";
export type { MessageEdit } from "./facts/message-edit.ts";
export type { ModelPrice } from "./facts/model-price.ts";
export type { PendingToolCall, ToolAnswer } from "./facts/outside-answers.ts";
export { type FollowAllOptions, followAll, type StoreEvent } from "./following/follow-all.ts";
export { type FollowedEvent, type FollowOptions, followSession } from "./following/follow-session.ts";
export { type Change, type ChangeLog, type WatchAllOptions, watchAll } from "./host/changes.ts";
export type { FileInfo, FileLimits, FileSource, FileStore, SessionFiles } from "./host/files.ts";
export type { Host } from "./host/host-port.ts";
export type {
	AcquireResult,
	Append,
	AppendResult,
	Input,
	Journal,
	Lease,
	ListOptions,
	ReadOptions,
	SessionHead,
	StoredInput,
} from "./host/journal.ts";
export type { Lifetime } from "./host/lifetime.ts";
export { memoryHost } from "./host/memory-host.ts";
export type { Clock, EventLoop, Ids, Ports, Timers } from "./host/ports.ts";
export type { RecordSpace } from "./host/records.ts";
export type { RunIndex } from "./host/run-index.ts";
export type { ClaimedTimer, Timer, TimerStore } from "./host/timers.ts";
export type { OutputOf, OutputSchema } from "./output/output-types.ts";
export type { AgentRun, RunResult } from "./sessions/agent-run.ts";
export type { Drained } from "./sessions/drain.ts";
export { drain } from "./sessions/drain.ts";
export type { FoldedHistory, FoldHistoryOptions } from "./sessions/fold-history.ts";
export { foldHistory } from "./sessions/fold-history.ts";
export type { ForkOptions } from "./sessions/fork-session.ts";
export type { DrainOptions } from "./sessions/lifecycle.ts";
export type { Recovery } from "./sessions/recovery.ts";
export type { Session } from "./sessions/session.ts";
export type { RecoverOptions, SuperviseOptions, WorkOptions, WorkProblem } from "./sessions/supervised.ts";
export { AgentState, type AgentStateInterface } from "./state/agent-state.ts";
export type { AgentStateJSON } from "./state/agent-state-json.ts";
export type { GenerateResult, ResultWith } from "./state/generate-result.ts";
export type { ExecutionPlan, PlanStep, PlanStepStatus } from "./state/plan-step.ts";
export type {
	SubagentExecutionTrace,
	SubagentExecutionTraceJSON,
	ToolExecutionTrace,
} from "./state/subagent-trace.ts";
export { ThreadNode, type ThreadNodeJSON } from "./state/thread-node.ts";
export { ThreadTree, type ThreadTreeJSON } from "./state/thread-tree.ts";
export type { AgentRef } from "./strategies/execution-strategy.ts";
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
export { createSimpleTool, tool } from "./tools/tool.ts";
export {
	type ContextAwareToolRun,
	type InjectToolContextOptions,
	injectToolContext,
	isContextAwareTool,
	type ToolExecutionContext,
	withToolContext,
} from "./tools/tool-context.ts";
export type { InferToolInput, InferToolOutput } from "./tools/tool-types.ts";
export type {
	AnyTool,
	Approval,
	ApprovalContext,
	RetryPolicy,
	ToolContext,
	ToolExecutionEvent,
	ToolSet,
} from "./tools/types.ts";
