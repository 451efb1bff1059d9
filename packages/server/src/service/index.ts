// Entry point of the session service.

export { noSessions } from "./no-sessions.ts";
export { type ServedCaller, type SessionOwner, sessionKeyOf } from "./served-key.ts";
export type {
	ExecuteRequest,
	NamedModels,
	ServedRun,
	SessionInfo,
	SessionPage,
	SessionService,
	SessionServiceOptions,
	SessionSummary,
	Submitted,
} from "./service-types.ts";
export { sessionService } from "./session-service.ts";
export { waitText } from "./wait-text.ts";
