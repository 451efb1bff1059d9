// The only entry point of the client.

export { type Client, createClient, type TypedAgent, type WatchOptions } from "./client.ts";
export { ClientError, type ClientErrorOptions, isClientError } from "./errors/client-error.ts";
export type { ExecuteStream } from "./execute/execute-stream.ts";
export type { ExecuteRequest } from "./execute/start-execution.ts";
export type { ExecuteResult } from "./execute/tally.ts";
export type { Approval, Approve } from "./tools/answerer.ts";
export type {
	ClientTool,
	ClientToolContext,
	ToolExecutionEvent,
	ToolParameters,
} from "./tools/client-tool.ts";
export type { ClientHeaders, ClientOptions, Fetch, ReconnectNotice } from "./transport/options.ts";
export type { Timers } from "./transport/timers.ts";
export type {
	ExecuteComplete,
	ExecuteEvent,
	ExecuteStatus,
	FailureReason,
	LoggedEvent,
	SessionWait,
	StopReason,
	ToolTypes,
} from "./wire/events.ts";
export type {
	AbortedMessage,
	AssistantMessage,
	AssistantPart,
	ErrorMessage,
	PendingToolCall,
	SessionMessage,
	ToolCall,
	ToolResultMessage,
	Usage,
	UserMessage,
	UserPart,
} from "./wire/messages.ts";
export type {
	Answer,
	ApprovalAnswer,
	ExecuteContext,
	ExecuteInput,
	ModelOptions,
	SessionInfo,
	SessionPage,
	SessionStatus,
	SessionSummary,
	ToolAnswer,
	ToolDescription,
} from "./wire/sessions.ts";
