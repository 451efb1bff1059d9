// A server of the Model Context Protocol in its own process. You can replace it with any other MCP server.
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const server = new McpServer({ name: "shop", version: "1.0.0" });
const stock: Readonly<Record<string, number>> = { lamp: 3, desk: 0 };
server.registerTool(
	"stock",
	{ description: "How many there are of an article.", inputSchema: z.object({ article: z.string() }) },
	async ({ article }) => ({ content: [{ type: "text", text: String(stock[article] ?? 0) }] }),
);
await server.connect(new StdioServerTransport());
