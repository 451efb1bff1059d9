// Entry point of executions.
export type { ExecuteStream } from "./execute-stream.ts";
export { type ExecuteRequest, startExecution } from "./start-execution.ts";
