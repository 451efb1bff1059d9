// Entry `@holdfast/sandbox`: code that is not trusted runs with nothing but what it is given.
export { createSandbox } from "./sandbox.ts";
export type {
	CodeExecution,
	CodeExecutionError,
	CodeExecutionLog,
	CodeExecutionOptions,
	CodeExecutionResult,
	CodeExecutionStatus,
	Sandbox,
	SandboxOptions,
} from "./types.ts";
