// Door of the session service.
export { readServedKey, readSessionKey, servedKey } from "./served-key.ts";
export type {
	ExecuteRequest,
	SessionInfo,
	SessionPage,
	SessionService,
	SessionServiceOptions,
	SessionSummary,
	Submitted,
} from "./service-types.ts";
export { sessionService } from "./session-service.ts";
