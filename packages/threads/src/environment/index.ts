// Entry point of the environment of a thread.
export { isTooShort, type Redaction, Redactions, shortestSecret } from "./redact.ts";
export {
	type EnvGiven,
	type EnvironmentParts,
	type EnvValue,
	ThreadEnvironment,
	valueIn,
} from "./thread-environment.ts";
