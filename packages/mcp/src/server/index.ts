// The entry point of the server: agents as tools of an MCP server.
export { type McpAgentServer, mcpServer } from "./mcp-server.ts";
export type { AgentTool, McpServerOptions } from "./server-options.ts";
export { toolOfSession } from "./task-id.ts";
