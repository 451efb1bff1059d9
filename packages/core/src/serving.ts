// Sessions served to others: what a server of any kind is put on. @see document 3, "HTTP Transport Layer"
export type { FollowOptions } from "./following/follow-session.ts";
export type {
	ExecuteComplete,
	ExecuteEvent,
	PendingSessionCall,
	SessionStatus,
} from "./serving/execute-event.ts";
export type { ExecuteRequest } from "./serving/execute-request.ts";
export { readServedKey, servedKey } from "./serving/served-key.ts";
export type { LoggedEvent } from "./serving/session-log.ts";
export type { SessionMessage } from "./serving/session-message.ts";
export {
	type SessionInfo,
	type SessionPage,
	type SessionService,
	type SessionServiceOptions,
	type SessionSummary,
	type Submitted,
	sessionService,
} from "./serving/session-service.ts";
