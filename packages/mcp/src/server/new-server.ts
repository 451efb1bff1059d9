// The request handlers of a server: its tools, their calls, and the calls that are tasks. Each connection or request gets
// its own.
import { readRun, refusalOf, type ServedCaller, waitText } from "@holdfast/server";
import {
	CLIENT_CAPABILITIES_META_KEY,
	type ClientCapabilities,
	type InputRequests,
	inputRequired,
	ProtocolError,
	ProtocolErrorCode,
	Server,
	type ServerContext,
	type StandardSchemaV1,
} from "@modelcontextprotocol/server";
import { idempotencyKeyMember } from "../idempotency-key.ts";
import {
	answerCalls,
	askingView,
	beginCall,
	callParameters,
	questionsOf,
	resultOf,
	sessionMember,
} from "./call-agent.ts";
import type { Leaving } from "./leaving.ts";
import type { McpServerOptions } from "./server-options.ts";
import { readTaskId, type TaskPlace, taskIdOf } from "./task-id.ts";
import { type Tasks, type TaskWire, tasksExtension } from "./tasks.ts";

type Params = Readonly<Record<string, unknown>>;

/** Accepts any value: it is validated where it is used. */
const anything: StandardSchemaV1<Params, Params> = {
	"~standard": { version: 1, vendor: "holdfast", validate: (value) => ({ value: (value ?? {}) as Params }) },
};

/** Creates a server for one caller. */
export function newServer(
	options: McpServerOptions,
	tasks: Tasks,
	leaving: Leaving,
	caller: ServedCaller,
): Server {
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
			// The official package requires `content` in every result; clients that asked for a task read `task`.
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
		// The official package removes them from the parameters of every method.
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

/** Wraps a handler, so that its errors contain only what clients may read. */
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
			service.stop(caller, sessionId).catch(() => {}); // it has ended, or its session was deleted
		});
	leaving.cameBack(sessionId);
	if (mcpReq.signal.aborted) stop();
	mcpReq.signal.addEventListener("abort", stop);
	const progressToken = mcpReq._meta?.progressToken;
	let progress = 0;
	const notify = (message: string): void => {
		if (progressToken === undefined) return;
		const params = { progressToken, progress: ++progress, message };
		mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // the client has disconnected
	};
	try {
		const run = { owner: caller, sessionId, after, signal: mcpReq.signal };
		const view = await readRun(service, run, "rest", (event) => {
			if (event.type === "text_delta") notify(event.delta);
			if (event.type === "tool_execution_start") notify(`[${event.toolName}]`);
			if (event.type === "waiting") notify(`[${waitText(event)}]`);
		});
		const { pending = [] } = askingView(view);
		if (pending.length > 0 && capabilitiesOf(server, context).elicitation !== undefined)
			return inputRequired({ inputRequests: questionsOf(pending), requestState: taskIdOf(place) });
		if (view.pending === undefined || view.pending.length === 0) return resultOf(view, sessionId);
		const names = view.pending.map(({ name }) => name).join(", ");
		const text = `It waits for an answer to ${names} and then continues. Its session is ${sessionId}.`;
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
