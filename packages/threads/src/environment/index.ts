// Door of the environment of a thread.
export { type Redaction, Redactions } from "./redact.ts";
export {
	type EnvGiven,
	type EnvironmentParts,
	type EnvValue,
	ThreadEnvironment,
} from "./thread-environment.ts";
