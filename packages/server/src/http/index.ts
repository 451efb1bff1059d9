// Entry point of HTTP: routes, names and bodies of requests, and error responses.
export { answerJson, refusalOf, refuse, shuttingDown, statusByCode } from "./errors.ts";
export { idempotencyKeyOf, isSessionId, newSessionId, sessionIdOfBody, sessionIdOfPath } from "./names.ts";
export { type BodyRules, type JsonObject, readJsonObject, readNothing } from "./read-body.ts";
export type { DescribedAnswer, Route, Schema } from "./route.ts";
