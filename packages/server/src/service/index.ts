// Door of the session service.
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
