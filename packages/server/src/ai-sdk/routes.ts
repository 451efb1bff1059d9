// Routes for pages that use the AI SDK's `useChat`: a chat is a session, under the chat's id.
import { HoldfastError } from "holdfast";
import type { Exchange, Projection } from "../exchange.ts";
import type { DescribedAnswer, Route } from "../http/index.ts";
import { answerJson, idempotencyKeyOf, isSessionId, sessionIdOfPath } from "../http/index.ts";
import { json } from "../openapi/index.ts";
import {
	executeErrors,
	fieldErrors,
	idempotencyKey,
	stop as stopSession,
	submitToKnown,
} from "../routes/index.ts";
import type { SessionInfo } from "../service/index.ts";
import { compareEventIds, projectedRun } from "../streams/index.ts";
import { chatHistory } from "./chat-history.ts";
import { type CallsKnown, ChatProjection } from "./chat-projection.ts";
import { askedOf } from "./chat-repeat.ts";
import { awaitedAnswers, type CallAnswer, readChatRequest } from "./chat-request.ts";

const chunks: DescribedAnswer = {
	description:
		"The AI SDK's UI message stream, v1: server-sent events with a chunk each, and `[DONE]` last. Each has an `id:` to resume after.",
	content: { "text/event-stream": { type: "object" } },
};
const headers = { "x-vercel-ai-ui-message-stream": "v1" };
const closing = "data: [DONE]\n\n";

/** Sends the last message of a chat, or what it says of calls, and streams the answer. */
export const chat: Route = {
	method: "POST",
	path: "/api/chat",
	name: "chat",
	summary:
		"Takes the last message of a chat, new, edited or to be answered anew, or its tool results and approvals, and streams the answer.",
	parameters: [idempotencyKey],
	body: {
		type: "object",
		required: ["id", "messages"],
		properties: {
			id: { type: "string" },
			messages: { type: "array", minItems: 1 },
			context: {},
			options: {},
		},
	},
	answers: { 200: chunks },
	errors: [
		...executeErrors,
		...fieldErrors,
		"unknown_model",
		"unknown_message",
		"forbidden_option",
		"tool_name_conflict",
		"session_not_found",
	],
	async handle(exchange) {
		const { sessionId, input, context, options } = readChatRequest(await exchange.readJson());
		const key = idempotencyKeyOf(exchange.request.headers);
		const chosen = options === undefined ? {} : { options };
		if (input.kind === "answers") return answerCalls(exchange, sessionId, input.answers, key, chosen);
		const info =
			input.kind === "message" ? undefined : await exchange.service.get(exchange.caller, sessionId);
		// A page would see the answer of the run that is steered twice: a message waits for it instead.
		const about = { context, ...chosen, neverSteers: true, whilePending: "queue" } as const;
		const request = { ...askedOf(input, info?.messages ?? []), ...about };
		const submitted = await exchange.submit(sessionId, request, key);
		return exchange.streamRunAs(submitted, (after) => chatRun(sessionId, after, after), headers);
	},
};

/** Streams the answer that is being made, from its beginning or from where a page was cut off. */
export const resumeChat: Route = {
	method: "GET",
	path: "/api/chat/:id/stream",
	name: "resumeChat",
	summary: "Streams the answer of a chat that is being made, again from its beginning; 204 when none is.",
	parameters: [
		{
			in: "header",
			name: "Last-Event-ID",
			description: "The id of the last chunk seen: only what follows it is streamed.",
			schema: { type: "string" },
		},
		{
			in: "query",
			name: "again",
			description: "`1` streams the last answer also if it has ended.",
			schema: { type: "string", enum: ["1"] },
		},
	],
	answers: { 200: chunks, 204: { description: "No answer is being made." } },
	errors: ["invalid_event_id", "events_expired"],
	async handle(exchange) {
		// A stream without a reader would stay open.
		if (exchange.request.method === "HEAD")
			throw new HoldfastError("method_not_allowed", "A stream has no HEAD. Use GET.", {
				data: { allow: "GET" },
			});
		const sessionId = sessionIdOfPath(exchange.parameter("id"));
		const from = exchange.lastEventId();
		const info = await exchange.service.get(exchange.caller, sessionId);
		// A page asks before it knows whether there is anything.
		const isWanted = from !== undefined || exchange.query("again") === "1";
		if (info?.lastRun === undefined || !(isWanted || isOpen(info)))
			return new Response(null, { status: 204 });
		const { after } = info.lastRun;
		if (from !== undefined && compareEventIds(from, after) < 0)
			throw new HoldfastError("events_expired", "Another answer has begun since. Load the chat again.");
		const answered = new Set(
			info.messages
				.slice(info.messages.findLastIndex(({ role }) => role === "user") + 1)
				.flatMap((message) => (message.role === "tool" ? message.toolCallId : [])),
		);
		const pending = new Set((info.pendingToolCalls ?? []).map(({ id }) => id));
		const projection = new ChatProjection({ answered, pending });
		const project = projection.add.bind(projection);
		const run = { sessionId, after, from: from ?? after, until: "rest", project, closing } as const;
		return exchange.streamAs({ ...projectedRun(run), headers });
	},
};

/** Stops the answer of a chat. */
export const stopChat: Route = {
	method: "POST",
	path: "/api/chat/:id/stop",
	name: "stopChat",
	summary: "Stops the answer that is being made; a page that only disconnects does not.",
	answers: stopSession.answers,
	errors: stopSession.errors ?? [],
	handle: stopSession.handle,
};

/** The messages of a chat. */
export const loadChat: Route = {
	method: "GET",
	path: "/api/chat/:id",
	name: "loadChat",
	summary: "The messages of a chat, for a page that is opened again; none for a chat that is not known.",
	answers: {
		200: json("The messages.", {
			type: "object",
			required: ["id", "messages", "isOpen"],
			properties: {
				id: { type: "string" },
				messages: { type: "array", items: { type: "object" } },
				isOpen: { type: "boolean", description: "Whether an answer is being made, or waits." },
			},
		}),
	},
	async handle(exchange) {
		const id = exchange.parameter("id");
		const info = isSessionId(id) ? await exchange.service.get(exchange.caller, id) : undefined;
		return answerJson({
			id,
			messages: info === undefined ? [] : chatHistory(info.messages, info.pendingToolCalls),
			isOpen: info !== undefined && isOpen(info),
		});
	},
};

function isOpen({ status }: SessionInfo): boolean {
	return status === "running" || status === "awaiting_tool_execution";
}

async function answerCalls(
	exchange: Exchange,
	sessionId: string,
	given: readonly CallAnswer[],
	key: string | undefined,
	chosen: { readonly options?: unknown },
): Promise<Response> {
	const info = await exchange.service.get(exchange.caller, sessionId);
	if (info === undefined) throw new HoldfastError("session_not_found", "Session not found");
	const answers = awaitedAnswers(given, info.pendingToolCalls);
	if (answers.length === 0)
		throw new HoldfastError("no_pending_tool_calls", "The last message answers no call. Send a message.");
	const submitted = await submitToKnown(exchange, sessionId, { input: answers, ...chosen }, key);
	const denied = answers.flatMap((answer) =>
		answer.role === "approval" && !answer.approved ? [answer.toolCallId] : [],
	);
	const { after } = submitted;
	const run = chatRun(sessionId, info.lastRun?.after ?? after, after, { denied: new Set(denied) });
	return exchange.streamAs({ ...run, headers });
}

/** A run as chunks: those after `from` of what begins after `after`. */
function chatRun(sessionId: string, after: string, from: string, known: CallsKnown = {}): Projection {
	const projection = new ChatProjection(known);
	const project = projection.add.bind(projection);
	return projectedRun({ sessionId, after, from, until: "next end", project, closing });
}
