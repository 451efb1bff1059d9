// The only door of the client.

export { type Client, createClient, type WatchOptions } from "./client.ts";
export { ClientError, type ClientErrorOptions, isClientError } from "./errors/index.ts";
export type { ExecuteRequest, ExecuteResult, ExecuteStream } from "./execute/index.ts";
export type {
	Approval,
	Approve,
	ClientTool,
	ClientToolContext,
	ToolExecutionEvent,
	ToolParameters,
} from "./tools/index.ts";
export type { ClientHeaders, ClientOptions, Fetch, ReconnectNotice, Timers } from "./transport/index.ts";
export type {
	AbortedMessage,
	Answer,
	ApprovalAnswer,
	AssistantMessage,
	AssistantPart,
	ErrorMessage,
	ExecuteComplete,
	ExecuteContext,
	ExecuteEvent,
	ExecuteInput,
	ExecuteStatus,
	LoggedEvent,
	ModelOptions,
	PendingToolCall,
	SessionInfo,
	SessionMessage,
	SessionPage,
	SessionStatus,
	SessionSummary,
	ToolAnswer,
	ToolCall,
	ToolDescription,
	ToolResultMessage,
	Usage,
	UserMessage,
	UserPart,
} from "./wire/index.ts";
