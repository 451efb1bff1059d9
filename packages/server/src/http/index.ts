// Door of HTTP: what a route is, names and bodies of requests, errors as answers.
export { answerJson, refusalOf, refuse, shuttingDown, statusByCode } from "./errors.ts";
export { idempotencyKeyOf, isSessionId, newSessionId, sessionIdOfBody, sessionIdOfPath } from "./names.ts";
export { type BodyRules, type JsonObject, readJsonObject, readNothing } from "./read-body.ts";
export type { DescribedAnswer, Route, Schema } from "./route.ts";
