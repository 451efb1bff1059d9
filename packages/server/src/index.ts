// Entry point: HTTP for sessions.
export type { Authenticate } from "./access/authenticate.ts";
export type { FailedAttempts } from "./access/failed-attempts.ts";
export type { RateLimit } from "./access/rate-limit.ts";
export type { Connection, Exchange, Projection } from "./exchange.ts";
export { createHandler, type Handler } from "./handler.ts";
export { type Refusal, refusalOf } from "./http/errors.ts";
export { isSessionId } from "./http/names.ts";
export type { DescribedAnswer, Route, Schema } from "./http/route.ts";
export type { ListenOptions } from "./node-listener.ts";
export type { HandlerOptions } from "./options.ts";
export {
	type CloseOptions,
	createServer,
	type Listening,
	listen,
	type Server,
	type ServerOptions,
} from "./server.ts";
export type {
	InspectedChanges,
	InspectedChild,
	InspectedEntriesOptions,
	InspectedFork,
	InspectedHead,
	SessionInspection,
} from "./service/inspection.ts";
export {
	type FollowRun,
	followRun,
	type RunProgress,
	type RunView,
	readRun,
} from "./service/read-run.ts";
export {
	readServedKey,
	readSessionKey,
	type ServedCaller,
	type SessionOwner,
	servedKey,
} from "./service/served-key.ts";
export type {
	ClientField,
	ClientFieldOptions,
	ExecuteRequest,
	NamedModels,
	ServedRun,
	SessionInfo,
	SessionPage,
	SessionService,
	SessionServiceOptions,
	SessionSummary,
	Submitted,
	TurnOfSession,
} from "./service/service-types.ts";
export { sessionService } from "./service/session-service.ts";
export { waitText } from "./service/wait-text.ts";
export { type WaitingMessage, whenBegun } from "./service/when-begun.ts";
export type { Source, StartSource } from "./streams/event-stream.ts";
export type { StreamEnd } from "./streams/stream-table.ts";
export type { ErrorLog, ModelErrorLog, RequestLog, RequestLogEntry, RunLog } from "./telemetry/log.ts";
