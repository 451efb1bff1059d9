// Entry point of the transport: settings, unary calls, and events that survive reconnects.
export { createBackoff } from "./backoff.ts";
export { type Following, followExecution, followSession } from "./follow.ts";
export { lost } from "./idle-time.ts";
export { type ClientOptions, checkNames, type Kind, readOptions, type Settings } from "./options.ts";
export { randomKey } from "./random-key.ts";
export { type ReceivedEvent, readRecords } from "./read-events.ts";
export {
	deleteSession,
	type EventConnection,
	type ExecuteBody,
	getSession,
	listSessions,
	repeatedly,
	sendAnswers,
	stopSession,
} from "./routes.ts";
export { type Call, send, sendForJson } from "./send.ts";
