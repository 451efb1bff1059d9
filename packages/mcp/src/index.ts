// @holdfast/mcp: MCP servers as tools of agents.
export type {
	CallUnderWay,
	ElicitationRequest,
	McpAnswer,
	McpRequest,
	SamplingRequest,
} from "./client/asked-back.ts";
export { connectMcp, type McpOptions, type McpServerStatus, McpServers } from "./client/connect-mcp.ts";
export type {
	McpChange,
	McpHttpServer,
	McpServer,
	McpServerOptions,
	McpStdioServer,
	McpTransportServer,
} from "./client/connect-options.ts";
export type { McpTool } from "./client/mcp-tool.ts";
export type { UnapprovedTool } from "./client/offered-tools.ts";
export {
	type ApprovedTools,
	fileApprovals,
	memoryApprovals,
	type ToolApprovals,
} from "./client/tool-approvals.ts";
