// The door of the wire types.

export type { ExecuteComplete, ExecuteEvent, ExecuteStatus, LoggedEvent } from "./events.ts";
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
} from "./messages.ts";
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
} from "./sessions.ts";
