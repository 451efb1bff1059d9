// Entry point of the execution host: the ports of a durable host, and the in-memory one.
export { type AgentExecution, agentExecution } from "./agent-execution.ts";
export type { ExecutionHost, RecordingHost } from "./execution-host.ts";
