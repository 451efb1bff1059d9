// Entry point of the tools: their registry and execution.
export { runTool, type ToolCall } from "./run-tool.ts";
export { faultOfDelays, ToolRegistry } from "./tool-registry.ts";
