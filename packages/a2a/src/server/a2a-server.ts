// `a2aServer`: serves an agent to other agents, over A2A 1.0 as JSON-RPC and as HTTP+JSON.

import { A2A_VERSION_HEADER, AGENT_CARD_PATH, AgentCard, formatSSEEvent, SSE_HEADERS } from "@a2a-js/sdk";
import { toJsonRpcError } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from "@a2a-js/sdk/server";
import type { ServedCaller } from "@holdfast/server";
import { checkOptions, optionNames } from "@holdfast/upp";
import { AgentHandler, withCallState } from "./agent-handler.ts";
import { eventStream } from "./event-stream.ts";
import { type A2AServerOptions, cardOf } from "./options.ts";
import { answerRest, readOperation } from "./rest.ts";

/** An agent that is served over A2A. */
export interface A2AAgentServer {
	/** The public card of the agent. */
	readonly card: AgentCard;
	/**
	 * Answers a request: mount it at the `url` of the card and all paths below it, and at `/.well-known/agent-card.json`.
	 * If you pass `caller`, it identifies the caller, and `authenticate` is not called.
	 */
	readonly fetch: (request: Request, options?: { readonly caller?: ServedCaller }) => Promise<Response>;
}

const a2aServerNames = optionNames<A2AServerOptions>({
	service: "object",
	name: "text",
	description: "text",
	url: true,
	version: "text",
	skills: "list",
	provider: "object",
	documentationUrl: "text",
	security: "object",
	authenticate: "function",
	caller: "object",
	maxRequestBytes: "number",
});

/**
 * Serves an agent over A2A.
 *
 * @throws HoldfastError `invalid_a2a_card`.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { sessionService } from "@holdfast/server";
 * import { memoryHost } from "holdfast";
 *
 * const service = sessionService({ host: memoryHost(), agent: { model: openai("gpt-5.2") } });
 * const a2a = a2aServer({
 * 	service,
 * 	name: "Researcher",
 * 	description: "Researches facts.",
 * 	url: "http://localhost:4280/a2a",
 * });
 * const card = await a2a.fetch(new Request("http://localhost:4280/.well-known/agent-card.json"));
 * console.log((await card.json()).name); // Researcher
 */
export function a2aServer(options: A2AServerOptions): A2AAgentServer {
	checkOptions(options, a2aServerNames, { of: "a2aServer()" });
	const { service, caller: everybody = { tenant: "local" }, authenticate } = options;
	const { maxRequestBytes = 4 * 1024 * 1024 } = options;
	const card = cardOf(options);
	const handler = new AgentHandler(service, card);
	const rpc = new JsonRpcTransportHandler(handler);
	return {
		card,
		async fetch(request, { caller: given } = {}) {
			const { pathname } = new URL(request.url);
			if (request.method === "GET" && pathname.endsWith(`/${AGENT_CARD_PATH}`))
				return Response.json(AgentCard.toJSON(card), { headers: { "cache-control": "max-age=300" } });
			const operation = readOperation(request);
			if (operation === undefined && request.method !== "POST")
				return new Response(undefined, { status: 405, headers: { allow: "GET, POST" } });
			if (given === undefined && authenticate === undefined && !isLocal(request))
				return new Response(undefined, { status: 403 });
			const caller = given ?? (authenticate === undefined ? everybody : await authenticate(request));
			if (caller === undefined)
				return new Response(undefined, { status: 401, headers: { "www-authenticate": "Bearer" } });
			const body = await readBody(request, maxRequestBytes);
			if (body === undefined) return new Response(undefined, { status: 413 });
			const requestedVersion = request.headers.get(A2A_VERSION_HEADER) ?? "0.3";
			const gone = new AbortController();
			request.signal.addEventListener("abort", () => gone.abort("gone"));
			const contextIn = (binding: "JSONRPC" | "HTTP+JSON"): ServerCallContext => {
				validateVersion(requestedVersion, card, binding);
				const context = new ServerCallContext({ requestedVersion });
				return withCallState(context, { caller, signal: gone.signal });
			};
			if (operation !== undefined)
				return answerRest(handler, {
					operation,
					request,
					body,
					context: () => contextIn("HTTP+JSON"),
					gone,
				});
			let context: ServerCallContext;
			try {
				context = contextIn("JSONRPC");
			} catch (error) {
				return Response.json({ jsonrpc: "2.0", id: null, error: toJsonRpcError(error) });
			}
			const answer = await rpc.handle(body, context);
			if (!(Symbol.asyncIterator in answer)) return Response.json(answer);
			const stream = eventStream(answer, gone, {
				shown: formatSSEEvent,
				failed: (error) => formatSSEEvent({ jsonrpc: "2.0", id: idOf(body), error: toJsonRpcError(error) }),
			});
			return new Response(stream, { headers: { ...SSE_HEADERS } });
		},
	};
}

async function readBody(request: Request, most: number): Promise<string | undefined> {
	if (Number(request.headers.get("content-length") ?? 0) > most) return undefined;
	const pieces: Uint8Array[] = [];
	let size = 0;
	for await (const piece of request.body ?? []) {
		size += piece.length;
		if (size > most) return undefined;
		pieces.push(piece);
	}
	return Buffer.concat(pieces).toString();
}

function idOf(body: string): unknown {
	try {
		return JSON.parse(body).id ?? null;
	} catch {
		return null;
	}
}

const localNames: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether a request addresses this machine: a page from elsewhere in a browser names another host or origin. */
function isLocal(request: Request): boolean {
	const host = URL.parse(`http://${request.headers.get("host") ?? new URL(request.url).host}`)?.hostname;
	const origin = request.headers.get("origin");
	const from = origin === null ? "localhost" : URL.parse(origin)?.hostname;
	return localNames.has(host ?? "") && localNames.has(from ?? "");
}
