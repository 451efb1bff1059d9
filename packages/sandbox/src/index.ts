/**
 * Runs untrusted JavaScript and TypeScript that has only what it is given.
 *
 * @module
 */
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
