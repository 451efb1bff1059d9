// @holdfast/mcp/server: agents as tools of an MCP server.
export {
	type AgentTool,
	type McpAgentServer,
	type McpServerOptions,
	mcpServer,
	toolOfSession,
} from "./server/index.ts";
