// `mcpServer`: agents as tools of an MCP server, over HTTP and stdio, on both wires. A call is a run of a durable session;
// there is nothing here that a restart could lose.
import { readRun, refusalOf, type ServedCaller } from "@holdfast/server";
import {
	CLIENT_CAPABILITIES_META_KEY,
	type ClientCapabilities,
	createMcpHandler,
	hostHeaderValidationResponse,
	type InputRequests,
	inputRequired,
	localhostAllowedHostnames,
	localhostAllowedOrigins,
	type McpRequestContext,
	originValidationResponse,
	ProtocolError,
	ProtocolErrorCode,
	Server,
	type ServerContext,
	type StandardSchemaV1,
	type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { idempotencyKeyMember } from "../idempotency-key.ts";
import {
	answerCalls,
	beginCall,
	callParameters,
	questionsOf,
	resultOf,
	sessionMember,
} from "./call-agent.ts";
import { Leaving } from "./leaving.ts";
import { checkTools, type McpServerOptions } from "./options.ts";
import { readTaskId, type TaskPlace, taskIdOf } from "./task-id.ts";
import { Tasks, type TaskWire, tasksExtension } from "./tasks.ts";

/** Agents that are offered over MCP. */
export interface McpAgentServer {
	/**
	 * Answers a request over HTTP: mount it at one path, for all methods. With `caller` whoever calls it says who asks, and
	 * `authenticate` is not asked.
	 */
	readonly fetch: (request: Request, options?: { readonly caller?: ServedCaller }) => Promise<Response>;
	/** Serves the program's standard input and output, or a transport of yours. Returns the way to end it. */
	stdio(options?: { readonly transport?: Transport; readonly caller?: ServedCaller }): {
		close(): Promise<void>;
	};
	/** Ends what is open. The service is whose it was. */
	close(): Promise<void>;
}

/**
 * Offers agents over MCP.
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
	checkTools(options.tools);
	const { caller: everybody = { tenant: "local" }, authenticate, onError, pollEveryMs = 1000 } = options;
	const tasks = new Tasks(options.service, pollEveryMs);
	const serverFor = (caller: ServedCaller) => newServer(options, tasks, leaving, caller);
	const leaving = new Leaving();
	const reports = onError === undefined ? {} : { onerror: onError };
	const handler = createMcpHandler(
		({ authInfo }: McpRequestContext) => serverFor((authInfo?.extra?.caller as ServedCaller) ?? everybody),
		reports,
	);
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
			const authInfo = { token: "", clientId: caller.tenant, scopes: [], extra: { caller } };
			return handler.fetch(request, { authInfo });
		},
		stdio({ transport, caller = everybody } = {}) {
			const over = transport === undefined ? {} : { transport };
			return serveStdio(() => serverFor(caller), { ...reports, ...over });
		},
		async close() {
			leaving.close();
			await handler.close();
		},
	};
}

/** Requests that were made here, and not received, have their host in the address only. */
function withHost(request: Request): Request {
	if (request.headers.has("host")) return request;
	return new Request(request.url, { headers: { host: new URL(request.url).host } });
}

type Params = Readonly<Record<string, unknown>>;

/** Whatever comes: it is looked at where it is used. */
const anything: StandardSchemaV1<Params, Params> = {
	"~standard": { version: 1, vendor: "holdfast", validate: (value) => ({ value: (value ?? {}) as Params }) },
};

function newServer(options: McpServerOptions, tasks: Tasks, leaving: Leaving, caller: ServedCaller): Server {
	const {
		service,
		tools,
		name = "holdfast",
		version = "1.0.0",
		instructions,
		tasks: offersTasks = true,
	} = options;
	const server = new Server(
		{ name, version },
		{
			capabilities: {
				tools: {},
				...(offersTasks
					? {
							tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
							extensions: { [tasksExtension]: {} },
						}
					: {}),
			},
			...(instructions === undefined ? {} : { instructions }),
			inputRequired: { roundTimeoutMs: 2 ** 31 - 1, maxRounds: 1000 },
		},
	);

	server.setRequestHandler("tools/list", () => ({
		tools: Object.entries(tools).map(([each, { description, title }]) => ({
			name: each,
			description,
			...(title === undefined ? {} : { title }),
			inputSchema: callParameters,
			...(offersTasks ? { execution: { taskSupport: "optional" as const } } : {}),
		})),
	}));

	server.setRequestHandler(
		"tools/call",
		asClientsMayRead(async ({ params }, context) => {
			if (!Object.hasOwn(tools, params.name))
				throw new ProtocolError(
					ProtocolErrorCode.InvalidParams,
					`There is no tool ${JSON.stringify(params.name)}.`,
				);
			const { mcpReq } = context;
			const key = mcpReq._meta?.[idempotencyKeyMember];
			const state = mcpReq.requestState();
			const place =
				(typeof state === "string" ? readTaskId(state) : undefined) ??
				(await beginCall(service, {
					caller,
					tool: params.name,
					params: params.arguments,
					...(typeof key === "string" && key !== "" ? { idempotencyKey: key } : {}),
					signal: mcpReq.signal,
				}));
			if (mcpReq.inputResponses !== undefined)
				await answerCalls(service, caller, place.sessionId, mcpReq.inputResponses);
			const wire = wireOf(context);
			if (
				offersTasks &&
				wire === "2026" &&
				tasksExtension in (capabilitiesOf(server, context).extensions ?? {})
			)
				return { content: [], resultType: "task", ...tasks.begun(place, wire) } as never;
			// The official package wants `content` of every result; clients that asked for a task look at `task`.
			if (offersTasks && (params as { task?: unknown }).task !== undefined)
				return { content: [], task: tasks.begun(place, wire) } as never;
			return followCall(options, leaving, server, context, caller, place);
		}),
	);

	if (!offersTasks) return server;
	const on = (method: string, handle: (params: Params, context: ServerContext) => Promise<object>): void =>
		server.setRequestHandler(method, { params: anything }, asClientsMayRead(handle) as never);
	on("tasks/get", ({ taskId }, context) => tasks.get(caller, taskId, wireOf(context)));
	on("tasks/cancel", async ({ taskId }, context) => {
		const wire = wireOf(context);
		const data = await tasks.cancel(caller, taskId, wire);
		return wire === "2025" ? data : {};
	});
	on("tasks/update", async ({ taskId }, { mcpReq }) => {
		// The official package takes them out of the parameters, whatever the method.
		await tasks.update(caller, taskId, mcpReq.inputResponses);
		return {};
	});
	on("tasks/list", ({ cursor }, context) => tasks.list(caller, cursor, wireOf(context)));
	on("tasks/result", async ({ taskId }, context) => {
		const { mcpReq } = context;
		const mayAsk = capabilitiesOf(server, context).elicitation !== undefined;
		const ask = async (requests: InputRequests) => {
			if (!mayAsk) return undefined;
			const answers: Record<string, unknown> = {};
			for (const [id, { params }] of Object.entries(requests))
				answers[id] = await mcpReq.elicitInput(params as never, { timeout: 2 ** 31 - 1 });
			return answers;
		};
		const result = await tasks.result(caller, taskId, mcpReq.signal, ask);
		const related = { "io.modelcontextprotocol/related-task": { taskId } };
		return { ...result, _meta: { ...(result as { _meta?: object })._meta, ...related } };
	});
	return server;
}

/** A handler whose errors say to clients what they may read. */
function asClientsMayRead<Request, Context, Result>(
	handle: (request: Request, context: Context) => Promise<Result>,
): (request: Request, context: Context) => Promise<Result> {
	return async (request, context) => {
		try {
			return await handle(request, context);
		} catch (error) {
			if (error instanceof ProtocolError) throw error;
			const { status, message } = refusalOf(error);
			throw new ProtocolError(
				status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
				message,
			);
		}
	};
}

/** A call that its client waits for. */
async function followCall(
	{ service, resendMs = 30_000 }: McpServerOptions,
	leaving: Leaving,
	server: Server,
	context: ServerContext,
	caller: ServedCaller,
	place: TaskPlace,
) {
	const { mcpReq } = context;
	const { sessionId, after } = place;
	const stop = (): void =>
		leaving.left(sessionId, mcpReq._meta?.[idempotencyKeyMember] === undefined ? 0 : resendMs, () => {
			service.stop(caller, sessionId).catch(() => {}); // it is over, or its session is gone
		});
	leaving.cameBack(sessionId);
	if (mcpReq.signal.aborted) stop();
	mcpReq.signal.addEventListener("abort", stop);
	const progressToken = mcpReq._meta?.progressToken;
	let progress = 0;
	const notify = (message: string): void => {
		if (progressToken === undefined) return;
		const params = { progressToken, progress: ++progress, message };
		mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // the client is gone
	};
	try {
		const run = { owner: caller, sessionId, after, signal: mcpReq.signal };
		const view = await readRun(service, run, "rest", (event) => {
			if (event.type === "text_delta") notify(event.delta);
			if (event.type === "tool_execution_start") notify(`[${event.toolName}]`);
		});
		if (view.pending === undefined) return resultOf(view, sessionId);
		if (capabilitiesOf(server, context).elicitation !== undefined)
			return inputRequired({ inputRequests: questionsOf(view.pending), requestState: taskIdOf(place) });
		const names = view.pending.map(({ name }) => name).join(", ");
		const text = `It waits for somebody to answer ${names}, and goes on when that was done. Its session is ${sessionId}.`;
		return {
			content: [{ type: "text" as const, text }],
			isError: true,
			_meta: { [sessionMember]: sessionId },
		};
	} finally {
		mcpReq.signal.removeEventListener("abort", stop);
	}
}

function wireOf({ mcpReq }: ServerContext): TaskWire {
	return mcpReq.envelope === undefined ? "2025" : "2026";
}

function capabilitiesOf(server: Server, { mcpReq }: ServerContext): ClientCapabilities {
	const said = (mcpReq.envelope as Params | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
	return (said as ClientCapabilities | undefined) ?? server.getClientCapabilities() ?? {};
}
