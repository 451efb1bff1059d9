// Entry point `holdfast/types`: types that a program rarely names: options of calls, parts of results, and the event
// unions that are wire formats. It exports no values.
export type { CallOptions } from "./agent/agent-call.ts";
export type { AgentTypes } from "./agent/agent-types.ts";
export type { CacheOption, CachePolicy } from "./agent/cache-policy.ts";
export type { CreateSubAgentToolOptions, SubAgentTool } from "./agent/create-sub-agent-tool.ts";
export type { ModelMessage, ModelMessagePart } from "./agent/model-messages.ts";
export type { PrepareStep, StepChanges } from "./agent/prepare-step.ts";
export type { SessionStoreHost } from "./agent/resolve-host.ts";
export type { SystemFunction, SystemOption } from "./agent/system-option.ts";
export type { AgentToolChoice } from "./agent/tool-choice.ts";
export type { Observation } from "./engine/engine-agent.ts";
export type { ModelWaitOptions } from "./engine/model-wait.ts";
export type { StepToPrepare } from "./engine/prepared-step.ts";
export type { SystemRequest } from "./engine/system-request.ts";
export type { AgentStreamEvent, UAPEvent, UAPEventType } from "./engine/uap-events.ts";
export type { AgentEvent } from "./facts/agent-event.ts";
export type { CallPathStep, RunOutcome, ToolCallOutcome } from "./facts/fact.ts";
export type { FailureReason } from "./facts/failure-reason.ts";
export type { WrappedData } from "./facts/input-part.ts";
export type {
	JobStatus,
	SubagentJobEnd,
	SubagentJobEvent,
	SubagentJobStart,
	SubagentJobUpdate,
} from "./facts/job-events.ts";
export type { MessageEdit } from "./facts/message-edit.ts";
export type { ModelPrice } from "./facts/model-price.ts";
export type { FollowAllOptions, StoreEvent } from "./following/follow-all.ts";
export type { FollowedEvent, FollowOptions } from "./following/follow-session.ts";
export type { OutputOf, OutputSchema } from "./output/output-types.ts";
export type { ForkOptions } from "./sessions/fork-session.ts";
export type { DrainOptions } from "./sessions/lifecycle.ts";
export type { RecoverOptions, SuperviseOptions, WorkOptions, WorkProblem } from "./sessions/supervised.ts";
export type { ResultWith } from "./state/generate-result.ts";
export type {
	OnSubagentEvent,
	SubagentEndEvent,
	SubagentEvent,
	SubagentEventBase,
	SubagentEventType,
	SubagentInnerEvent,
	SubagentStartEvent,
} from "./tools/subagent-event.ts";
export type { ApprovalContext, LoadableTools, ToolOptions, ToolSet } from "./tools/types.ts";
