/** The MCP servers that an editor names for a session, as tools whose calls require approval. */
import { type McpServer as EditorServer, RequestError } from "@agentclientprotocol/sdk/unstable";
import { connectMcp, type McpServer, type McpServers } from "@holdfast/mcp";

/**
 * Connects to the servers. Returns undefined for an empty list.
 * @throws RequestError "Invalid params" for a transport that was not offered, and for two servers of one name.
 */
export async function connectEditorServers(
	servers: readonly EditorServer[],
	cwd: string,
): Promise<McpServers | undefined> {
	if (servers.length === 0) return undefined;
	const named = new Map<string, McpServer>();
	for (const server of servers) {
		const name = nameOf(server.name);
		if (named.has(name)) throw refused(`Two MCP servers are called ${JSON.stringify(name)}. Rename one.`);
		named.set(name, serverOf(server, cwd));
	}
	return connectMcp(Object.fromEntries(named));
}

function serverOf(server: EditorServer, cwd: string): McpServer {
	// The editor's user has not seen what the tools do.
	const needsApproval = true;
	if (!("type" in server)) {
		const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]));
		return { command: server.command, args: server.args, env, cwd, needsApproval };
	}
	if (server.type !== "http")
		throw refused(
			`The MCP server ${JSON.stringify(server.name)} uses the old SSE transport. Use its HTTP transport.`,
		);
	const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
	return { url: server.url, headers, needsApproval };
}

/** Tools are called by their server's name, which must be accepted by providers of models. */
function nameOf(name: string): string {
	const plain = name.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, 32);
	return /^[a-zA-Z]/.test(plain) ? plain : `mcp_${plain}`.slice(0, 32);
}

function refused(message: string): RequestError {
	return RequestError.invalidParams(undefined, message);
}
