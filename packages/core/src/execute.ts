// Entry point `holdfast/execute`: the types of `createSession` and `execute`, and what `@holdfast/server` and similar
// packages need to serve their sessions.

export { failureText } from "@holdfast/upp";
export { AgentSessions, type AgentSessionsOptions } from "./agent/agent-sessions.ts";
export type { AgentFor, TurnOptions } from "./agent/session-agent.ts";
export { readCaller } from "./caller/caller.ts";
export type { FailedModelCall, ObservedRun, ObserveRun, RunObserver } from "./engine/run-observer.ts";
export type {
	AgentContext,
	ExecuteOptions,
	PromptOptions,
} from "./execute/create-session.ts";
export type {
	ExecuteComplete,
	PendingSessionCall,
	SessionStatus,
	SessionWait,
} from "./execute/execute-event.ts";
export type { ErrorText, ShownError } from "./execute/execute-projection.ts";
export { ExecuteSession } from "./execute/execute-session.ts";
export { ExecuteSessions, type ExecuteSessionsOptions } from "./execute/execute-sessions.ts";
export type { ExecuteSettings, Execution, SessionContext } from "./execute/execute-settings.ts";
export {
	type ChosenOptions,
	type ExecuteInput,
	readInput,
	readOptions,
	type ToolAnswerMessage,
	type UserInputMessage,
} from "./execute/read-input.ts";
export { type SentPart, type SentRequest, sentRequest } from "./execute/sent-request.ts";
export type { ForkSettings, SessionAgentInfo, SessionOrigin } from "./execute/session-fork.ts";
export { type FollowLogOptions, followLog, type LoggedEvent } from "./execute/session-log.ts";
export type { AbortedMessage, ErrorMessage } from "./execute/session-message.ts";
export type { SessionSetup, StoredTool } from "./execute/session-setup.ts";
export {
	SessionStore,
	type SessionStoreOptions,
	type StoredSessionOptions,
} from "./execute/session-store.ts";
export type { SessionTrial, TrialAnswer, TrialRequest, TrialResult } from "./execute/session-trial.ts";
export type { SessionView } from "./execute/session-view.ts";
export { entriesAfter } from "./facts/entry-pages.ts";
export { afterEntry, atEntry, type EventPlace, eventId, invalidEventId, isAfter } from "./facts/event-id.ts";
export type { PlacedEvent } from "./facts/journal-fold.ts";
export type { JournalItem } from "./facts/journal-reader.ts";
export { type EventPage, followPages, type PagesOptions, placeAfter } from "./following/follow-pages.ts";
export { readStoreKey, type SessionKeys, storeKeyOf } from "./host/session-key.ts";
export { Lifecycle, type Living, type OwnLife } from "./sessions/lifecycle.ts";
export { recovery } from "./sessions/recovery.ts";
