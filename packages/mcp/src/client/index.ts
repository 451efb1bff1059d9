// The entry point of the client: MCP servers as tools of agents.
export type {
	CallUnderWay,
	ElicitationRequest,
	McpAnswer,
	McpRequest,
	SamplingRequest,
} from "./asked-back.ts";
export { connectMcp, type McpOptions, type McpServerStatus, McpServers } from "./connect-mcp.ts";
export type {
	McpChange,
	McpHttpServer,
	McpServer,
	McpServerOptions,
	McpStdioServer,
	McpTransportServer,
} from "./connect-options.ts";
export type { McpTool } from "./mcp-tool.ts";
export type { UnapprovedTool } from "./offered-tools.ts";
export { type ApprovedTools, fileApprovals, memoryApprovals, type ToolApprovals } from "./tool-approvals.ts";
