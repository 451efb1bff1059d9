// Entry point of the routes of sessions and executions, and of those for operators.
export {
	approve,
	deny,
	execute,
	executeErrors,
	fieldErrors,
	idempotencyKey,
	submitToKnown,
} from "./execute.ts";
export { description, health, metrics } from "./operation.ts";
export { events, remove, session, sessions, stop } from "./sessions.ts";
