// `mcpServer`: agents as tools of an MCP server, over HTTP and stdio, with both protocol versions. A call is a run of a
// durable session, so a restart loses nothing.

import type { ServedCaller } from "@holdfast/server";
import { checkOptions, optionNames, readDuration } from "@holdfast/upp";
import {
	createMcpHandler,
	hostHeaderValidationResponse,
	localhostAllowedHostnames,
	localhostAllowedOrigins,
	type McpRequestContext,
	originValidationResponse,
	type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { AskingSessions } from "./asking-sessions.ts";
import { Leaving } from "./leaving.ts";
import { newServer } from "./new-server.ts";
import { checkTools, type McpServerOptions } from "./server-options.ts";
import { Tasks } from "./tasks.ts";

/** Agents that are served over MCP. */
export interface McpAgentServer {
	/**
	 * Answers a request over HTTP: mount it at one path, for all methods. If you pass `caller`, it identifies the caller,
	 * and `authenticate` is not called.
	 */
	readonly fetch: (request: Request, options?: { readonly caller?: ServedCaller }) => Promise<Response>;
	/** Serves the program's standard input and output, or your own transport. Returns a function that ends it. */
	stdio(options?: { readonly transport?: Transport; readonly caller?: ServedCaller }): {
		close(): Promise<void>;
	};
	/** Closes all connections. The service belongs to the caller and stays open. */
	close(): Promise<void>;
}

const mcpServerNames = optionNames<McpServerOptions>({
	service: "object",
	tools: "object",
	name: "text",
	version: "text",
	instructions: "text",
	authenticate: "function",
	caller: "object",
	tasks: "flag",
	pollEveryMs: true,
	resendMs: true,
	onError: "function",
});

/**
 * Serves agents over MCP.
 *
 * @throws HoldfastError `invalid_mcp_tool`.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { sessionService } from "@holdfast/server";
 * import { memoryHost } from "holdfast";
 *
 * const service = sessionService({ host: memoryHost(), agent: { model: openai("gpt-5.2") } });
 * const mcp = mcpServer({ service, tools: { research: { description: "Researches facts." } } });
 * console.log((await mcp.fetch(new Request("http://localhost/mcp"))).status); // 405
 * await mcp.close();
 */
export function mcpServer(options: McpServerOptions): McpAgentServer {
	checkOptions(options, mcpServerNames, { of: "mcpServer()" });
	checkTools(options.tools);
	const { caller: everybody = { tenant: "local" }, authenticate, onError } = options;
	const pollEveryMs = readDuration("pollEveryMs", options.pollEveryMs, 1000);
	readDuration("resendMs", options.resendMs, 0, { least: 0, most: Number.POSITIVE_INFINITY });
	const tasks = new Tasks(options.service, pollEveryMs);
	const serverFor = (caller: ServedCaller) => newServer(options, tasks, leaving, caller);
	const leaving = new Leaving();
	const reports = onError === undefined ? {} : { onerror: onError };
	const handler = createMcpHandler(
		({ authInfo }: McpRequestContext) => serverFor((authInfo?.extra?.caller as ServedCaller) ?? everybody),
		reports,
	);
	const asking = new AskingSessions({ serverFor, onError });
	return {
		async fetch(request, { caller: given } = {}) {
			const refusal =
				given !== undefined || authenticate !== undefined
					? undefined
					: (hostHeaderValidationResponse(withHost(request), localhostAllowedHostnames()) ??
						originValidationResponse(request, localhostAllowedOrigins()));
			if (refusal !== undefined) return refusal;
			const caller = given ?? (authenticate === undefined ? everybody : await authenticate(request));
			if (caller === undefined) {
				const headers = { "www-authenticate": "Bearer" };
				return new Response(undefined, { status: 401, headers });
			}
			const answered = await asking.fetch(request, caller);
			if (answered !== undefined) return answered;
			const authInfo = { token: "", clientId: caller.tenant, scopes: [], extra: { caller } };
			return handler.fetch(request, { authInfo });
		},
		stdio({ transport, caller = everybody } = {}) {
			const over = transport === undefined ? {} : { transport };
			return serveStdio(() => serverFor(caller), { ...reports, ...over });
		},
		async close() {
			leaving.close();
			await asking.close();
			await handler.close();
		},
	};
}

/** Requests that were created in this process have their host only in the URL. */
function withHost(request: Request): Request {
	if (request.headers.has("host")) return request;
	return new Request(request.url, { headers: { host: new URL(request.url).host } });
}
