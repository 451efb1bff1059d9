// Door of the tools: their registry, and how one is run.
export { runTool, type ToolCall } from "./run-tool.ts";
export { faultOfDelays, ToolRegistry } from "./tool-registry.ts";
