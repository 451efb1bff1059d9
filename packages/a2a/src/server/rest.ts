// The HTTP+JSON binding of A2A 1.0: its operations as methods and paths below the agent's address.
import {
	A2A_CONTENT_TYPE,
	formatSSEErrorEvent,
	formatSSEEvent,
	ListTasksResponse,
	SendMessageRequest,
	SendMessageResponse,
	SSE_HEADERS,
	StreamResponse,
	Task,
	taskStateFromJSON,
} from "@a2a-js/sdk";
import {
	ContentTypeNotSupportedError,
	RequestMalformedError,
	restStatusFor,
	toRestErrorBody,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { eventStream } from "./event-stream.ts";

/** Returns the operation for a method and a path. */
export interface RestOperation {
	readonly name: "send" | "stream" | "get" | "list" | "cancel" | "subscribe" | "push" | "card";
	/** Empty if the operation does not concern a task. */
	readonly taskId: string;
}

const paths: readonly (readonly [methods: string, path: RegExp, name: RestOperation["name"]])[] = [
	["POST", /\/message:send$/, "send"],
	["POST", /\/message:stream$/, "stream"],
	["GET", /\/tasks$/, "list"],
	["GET", /\/tasks\/([^/:]+)$/, "get"],
	["POST", /\/tasks\/([^/:]+):cancel$/, "cancel"],
	["GET POST", /\/tasks\/([^/:]+):subscribe$/, "subscribe"],
	["GET POST DELETE", /\/tasks\/([^/:]+)\/pushNotificationConfigs(?:\/[^/]+)?$/, "push"],
	["GET", /\/extendedAgentCard$/, "card"],
];

/** Returns undefined if the binding has no such operation. */
export function readOperation({ method, url }: Request): RestOperation | undefined {
	const { pathname } = new URL(url);
	for (const [methods, path, name] of paths) {
		const found = methods.split(" ").includes(method) ? path.exec(pathname) : null;
		if (found !== null) return { name, taskId: decoded(found[1] ?? "") };
	}
	return undefined;
}

/** A name with an invalid encoding matches nothing, so it can stay encoded. */
function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** A request of the binding. */
export interface RestRequest {
	readonly operation: RestOperation;
	readonly request: Request;
	readonly body: string;
	/** Creates the context of the call. @throws A2AError for an unsupported version. */
	readonly context: () => ServerCallContext;
	/** Aborted when the client leaves its stream. */
	readonly gone: AbortController;
}

/** Runs an operation. Never rejects: errors become responses. */
export async function answerRest(handler: A2ARequestHandler, asked: RestRequest): Promise<Response> {
	try {
		return await answer(handler, asked, asked.context());
	} catch (error) {
		const status = restStatusFor(error);
		return json(toRestErrorBody(error, status), status);
	}
}

async function answer(
	handler: A2ARequestHandler,
	{ operation: { name, taskId: id }, request, body, gone }: RestRequest,
	context: ServerCallContext,
): Promise<Response> {
	const { searchParams } = new URL(request.url);
	const of = { tenant: "", id };
	switch (name) {
		case "send": {
			const sent = await handler.sendMessage(readSend(request, body), context);
			const payload =
				"messageId" in sent
					? ({ $case: "message", value: sent } as const)
					: ({ $case: "task", value: sent } as const);
			return json(SendMessageResponse.toJSON({ payload }));
		}
		case "stream":
			return streamed(handler.sendMessageStream(readSend(request, body), context), gone);
		case "subscribe":
			return streamed(handler.resubscribe(of, context), gone);
		case "get": {
			const historyLength = count(searchParams, "historyLength", 0);
			return json(
				Task.toJSON(
					await handler.getTask(
						{ ...of, ...(historyLength === undefined ? {} : { historyLength }) },
						context,
					),
				),
			);
		}
		case "cancel":
			return json(Task.toJSON(await handler.cancelTask({ ...of, metadata: undefined }, context)));
		case "list":
			return json(await list(handler, searchParams, context));
		case "card":
			return json(await handler.getAuthenticatedExtendedAgentCard({ tenant: "" }, context));
		case "push":
			return json(
				await handler.listTaskPushNotificationConfigs(
					{ tenant: "", taskId: id, pageSize: 0, pageToken: "" },
					context,
				),
			);
	}
}

async function list(
	handler: A2ARequestHandler,
	query: URLSearchParams,
	context: ServerCallContext,
): Promise<unknown> {
	const historyLength = count(query, "historyLength", 0);
	const pageSize = count(query, "pageSize", 1);
	const after = query.get("statusTimestampAfter") || undefined;
	if (after !== undefined && Number.isNaN(Date.parse(after)))
		throw new RequestMalformedError("`statusTimestampAfter` is not a time.");
	const found = await handler.listTasks(
		{
			tenant: "",
			contextId: query.get("contextId") ?? "",
			status: taskStateFromJSON(query.get("status") || "TASK_STATE_UNSPECIFIED"),
			pageToken: query.get("pageToken") ?? "",
			statusTimestampAfter: after,
			includeArtifacts: query.get("includeArtifacts") === "true",
			...(historyLength === undefined ? {} : { historyLength }),
			...(pageSize === undefined ? {} : { pageSize }),
		},
		context,
	);
	const isWhole = query.get("includeArtifacts") === "true";
	return ListTasksResponse.toJSON({
		...found,
		tasks: found.tasks.map((task) => (isWhole ? task : { ...task, artifacts: [] })),
	});
}

/** @throws RequestMalformedError */
function count(query: URLSearchParams, name: string, least: number): number | undefined {
	const text = query.get(name);
	if (text === null || text === "") return undefined;
	if (!/^\d{1,9}$/.test(text) || Number(text) < least)
		throw new RequestMalformedError(`\`${name}\` must be a whole number of at least ${least}.`);
	return Number(text);
}

/** @throws A2AError if the body is not a message. */
function readSend(request: Request, body: string): SendMessageRequest {
	const given = request.headers.get("content-type");
	const type = given?.split(";", 1)[0]?.trim().toLowerCase();
	if (type !== undefined && type !== "application/json" && type !== A2A_CONTENT_TYPE)
		throw new ContentTypeNotSupportedError(
			`The content type is ${type}; send application/json or ${A2A_CONTENT_TYPE}.`,
		);
	let read: SendMessageRequest;
	try {
		read = SendMessageRequest.fromJSON(JSON.parse(body));
	} catch {
		throw new RequestMalformedError("The body is not a message in JSON.");
	}
	if (!read.message?.messageId) throw new RequestMalformedError("`message.messageId` is missing.");
	return read;
}

/** Requests are refused before the stream starts. */
async function streamed(
	events: AsyncGenerator<StreamResponse, void, undefined>,
	gone: AbortController,
): Promise<Response> {
	const first = await events.next();
	async function* all(): AsyncGenerator<StreamResponse, void, undefined> {
		if (first.done !== true) yield first.value;
		yield* events;
	}
	const stream = eventStream(all(), gone, {
		shown: (event) => formatSSEEvent(StreamResponse.toJSON(event)),
		failed: (error) => formatSSEErrorEvent(toRestErrorBody(error, restStatusFor(error))),
	});
	return new Response(stream, { headers: { ...SSE_HEADERS } });
}

function json(value: unknown, status = 200): Response {
	return new Response(JSON.stringify(value), { status, headers: { "content-type": A2A_CONTENT_TYPE } });
}
