// Entry point of the wire types.
export type {
	ExecuteComplete,
	ExecuteEvent,
	ExecuteStatus,
	FailureReason,
	LoggedEvent,
	SessionWait,
	StopReason,
	ToolTypes,
} from "./events.ts";
export type { PendingToolCall, SessionMessage } from "./messages.ts";
export type {
	Answer,
	ApprovalAnswer,
	ExecuteContext,
	ExecuteInput,
	ModelOptions,
	SessionInfo,
	SessionPage,
	ToolAnswer,
	ToolDescription,
} from "./sessions.ts";
