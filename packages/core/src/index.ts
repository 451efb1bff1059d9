// The main entry: agents, their state, their runs. Types of the model layer come from @holdfast/upp (reading 7).
export { Agent, agent } from "./agent/agent.ts";
export type { CallOptions } from "./agent/agent-call.ts";
export type { AgentStreamResult } from "./agent/agent-stream.ts";
export type { AgentOptions } from "./agent/options.ts";
export type { AgentStreamEvent, UAPEvent, UAPEventType } from "./agent/uap-events.ts";
export type { WorkOptions, WorkProblem } from "./agent/work.ts";
export type {
	AgentStrategy,
	Clock,
	GenerateResult,
	Ids,
	ModelPrice,
	Observation,
	Ports,
	RunEvent,
	Timers,
} from "./engine/index.ts";
export { HoldfastError, isHoldfastError } from "./errors/index.ts";
export type {
	AcquireResult,
	Append,
	AppendResult,
	Entry,
	ErrorData,
	Fact,
	Host,
	Input,
	Journal,
	Lease,
	ListOptions,
	Placement,
	ReadOptions,
	RunKind,
	RunOutcome,
	SessionHead,
	StoredInput,
	ToolCallOutcome,
} from "./journal/index.ts";
export { memoryHost } from "./journal/index.ts";
export {
	type AgentContext,
	type AgentSession,
	createSession,
	type ExecuteOptions,
	execute,
	type PromptOptions,
	type ToolAnswerMessage,
} from "./serving/create-session.ts";
export type { ExecuteEvent, PendingSessionCall, SessionStatus } from "./serving/execute-event.ts";
export type { ExecuteResult, ExecuteStream } from "./serving/execute-stream.ts";
export type { AbortedMessage, ErrorMessage, SessionMessage } from "./serving/session-message.ts";
export type {
	AgentEvent,
	AgentRun,
	Drained,
	FoldedHistory,
	FoldHistoryOptions,
	ForkOptions,
	InputPart,
	JobStatus,
	PendingToolCall,
	RunResult,
	SendInput,
	Session,
	SubagentJobEnd,
	SubagentJobEvent,
	SubagentJobStart,
	SubagentJobUpdate,
	ToolAnswer,
} from "./sessions/index.ts";
export { drain, foldHistory } from "./sessions/index.ts";
export {
	AgentState,
	type AgentStateJSON,
	type PlanStep,
	type SubagentExecutionTrace,
	type SubagentExecutionTraceJSON,
	ThreadNode,
	type ThreadNodeJSON,
	ThreadTree,
	type ThreadTreeJSON,
	type ToolExecutionTrace,
} from "./state/index.ts";
export {
	createSubAgentTool,
	type SubAgentTool,
	type SubAgentToolOptions,
	type SubagentEndEvent,
	type SubagentEvent,
	type SubagentInnerEvent,
	type SubagentStartEvent,
} from "./subagents/index.ts";
export {
	type AnyTool,
	type Approval,
	createSimpleTool,
	type RetryPolicy,
	type ToolContext,
	type ToolExecutionEvent,
	type ToolSet,
	tool,
} from "./tools/index.ts";
