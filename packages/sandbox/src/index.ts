// Entry `@holdfast/sandbox`: runs untrusted code with access only to what it is given.
export { createSandbox } from "./sandbox.ts";
export type {
	CodeExecution,
	CodeExecutionError,
	CodeExecutionLog,
	CodeExecutionOptions,
	CodeExecutionResult,
	CodeExecutionStatus,
	ReproducibleRun,
	Sandbox,
	SandboxOptions,
} from "./types.ts";
