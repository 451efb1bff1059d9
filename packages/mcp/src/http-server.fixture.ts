// An MCP server on loopback whose tools a test may change, that it may stop and start again at the same address.
import type { IncomingMessage } from "node:http";
import {
	createMcpHandler,
	fromJsonSchema,
	McpServer,
	type ServerContext,
} from "@modelcontextprotocol/server";
import { listen } from "../../../test/shared/listen.fixture.ts";

export interface TestTool {
	readonly description: string;
	readonly parameters?: Record<string, unknown>;
	run(params: Record<string, unknown>, context: ServerContext): unknown;
}

export interface TestServer extends AsyncDisposable {
	readonly url: string;
	readonly tools: Map<string, TestTool>;
	/** Every request as it came: its method and headers. */
	readonly requests: IncomingMessage[];
	/** Answers a request before MCP sees it, where it gives a response. */
	before?: (request: Request) => Response | undefined | Promise<Response | undefined>;
	changed(): void;
	stop(): Promise<void>;
	start(): Promise<void>;
}

export async function startServer(tools: Record<string, TestTool>): Promise<TestServer> {
	const offered = new Map(Object.entries(tools));
	const requests: IncomingMessage[] = [];
	const newHandler = () =>
		createMcpHandler(() => {
			const server = new McpServer(
				{ name: "test", version: "1.0.0" },
				{ capabilities: { tools: { listChanged: true } } },
			);
			for (const [name, { description, parameters = { type: "object" }, run }] of offered) {
				server.registerTool(name, { description, inputSchema: fromJsonSchema(parameters) }, (async (
					params: Record<string, unknown>,
					context: ServerContext,
				) => {
					const result = await run(params, context);
					return typeof result === "string" ? { content: [{ type: "text", text: result }] } : result;
				}) as never);
			}
			return server;
		});
	let handler = newHandler();
	const fetch = async (request: Request): Promise<Response> =>
		(await world.before?.(request)) ?? handler.fetch(request);
	let listening = await listen(fetch, 0, (incoming) => requests.push(incoming));
	const { port } = listening;
	let isUp = true;
	const world: TestServer = {
		url: `http://127.0.0.1:${port}/mcp`,
		tools: offered,
		requests,
		changed: () => handler.notify.toolsChanged(),
		async stop() {
			if (!isUp) return;
			isUp = false;
			await handler.close();
			await listening.close();
		},
		async start() {
			handler = newHandler();
			listening = await listen(fetch, port, (incoming) => requests.push(incoming));
			isUp = true;
		},
		async [Symbol.asyncDispose]() {
			await world.stop();
		},
	};
	return world;
}
