// A server whose one tool ends its process.
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const server = new McpServer({ name: "dying", version: "1.0.0" });
server.registerTool("die", { description: "Dies." }, () => {
	process.stderr.write("out of disk\n", () => process.exit(1));
	return new Promise(() => {});
});
await server.connect(new StdioServerTransport());
