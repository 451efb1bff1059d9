// Routes for pages that use the AI SDK's `useChat`: a chat is a session with the chat's id.
import { HoldfastError, isHoldfastError } from "holdfast";
import type { LoggedEvent, PendingSessionCall } from "holdfast/execute";
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
import type { SessionInfo, Submitted } from "../service/index.ts";
import { compareEventIds, projectedRun } from "../streams/index.ts";
import { chatHistory } from "./chat-history.ts";
import { type CallsKnown, ChatProjection, continued } from "./chat-projection.ts";
import { askedOf } from "./chat-repeat.ts";
import { awaitedAnswers, type CallAnswer, readChatRequest } from "./chat-request.ts";
import { answerIdOf, type UiChunk } from "./ui-chunk.ts";

const chunks: DescribedAnswer = {
	description:
		"The AI SDK's UI message stream, v1: server-sent events with a chunk each, and `[DONE]` last. Each has an `id:` to resume after.",
	content: { "text/event-stream": { type: "object" } },
};
const headers = { "x-vercel-ai-ui-message-stream": "v1" };
const closing = "data: [DONE]\n\n";

/** Sends the last message of a chat, or its answers to calls, and streams the response. */
export const chat: Route = {
	method: "POST",
	path: "/api/chat",
	name: "chat",
	summary:
		"Accepts the last message of a chat (new, edited or to be answered again), or its tool results and approvals, and streams the answer.",
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
		// A page would show the answer of a steered run twice, so the message waits for the run instead.
		const about = { context, ...chosen, neverSteers: true, whilePending: "queue" } as const;
		const request = { ...askedOf(input, info?.messages ?? []), ...about };
		const submitted = await exchange.submit(sessionId, request, key);
		if (submitted.begun !== undefined) {
			// A stream that stays open would keep the page from answering the calls.
			const { pendingToolCalls = [] } = (await exchange.service.get(exchange.caller, sessionId)) ?? {};
			if (pendingToolCalls.length > 0)
				return queued(exchange, sessionId, pendingToolCalls, request.messageId);
		}
		return exchange.streamRunAs(submitted, (after) => chatRun(sessionId, after, after), headers);
	},
};

/** Streams the answer in progress, from its beginning or from where a page was disconnected. */
export const resumeChat: Route = {
	method: "GET",
	path: "/api/chat/:id/stream",
	name: "resumeChat",
	summary: "Streams the answer that a chat is generating, from its beginning; 204 if there is none.",
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
			description: "`1` streams the last answer even if it has ended.",
			schema: { type: "string", enum: ["1"] },
		},
	],
	answers: { 200: chunks, 204: { description: "No answer is being generated." } },
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
		// A page asks without knowing whether there is anything to resume.
		const isWanted = from !== undefined || exchange.query("again") === "1";
		if (info?.lastRun === undefined || !(isWanted || isOpen(info)))
			return new Response(null, { status: 204 });
		const { after } = info.lastRun;
		if (from !== undefined && compareEventIds(from, after) < 0)
			throw new HoldfastError("events_expired", "Another answer has started since. Load the chat again.");
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
	summary: "Stops the answer that is being generated; disconnecting does not.",
	answers: stopSession.answers,
	errors: stopSession.errors ?? [],
	handle: stopSession.handle,
};

/** The messages of a chat. */
export const loadChat: Route = {
	method: "GET",
	path: "/api/chat/:id",
	name: "loadChat",
	summary: "The messages of a chat, for a page that is reopened; none for an unknown chat.",
	answers: {
		200: json("The messages.", {
			type: "object",
			required: ["id", "messages", "isOpen"],
			properties: {
				id: { type: "string" },
				messages: { type: "array", items: { type: "object" } },
				isOpen: { type: "boolean", description: "Whether an answer is being generated, or waits." },
			},
		}),
	},
	async handle(exchange) {
		const id = exchange.parameter("id");
		const info = isSessionId(id) ? await exchange.service.get(exchange.caller, id) : undefined;
		return answerJson({
			id,
			messages: info === undefined ? [] : chatHistory(info.messages, callsOf(info)),
			isOpen: info !== undefined && isOpen(info),
		});
	},
};

/**
 * Streams a message that waits for answers to calls: the stream ends at once, and the page resumes the chat after its
 * answers.
 */
function queued(
	exchange: Exchange,
	sessionId: string,
	calls: readonly PendingSessionCall[],
	messageId: string | undefined,
): Response {
	const names = calls.map(({ name }) => name).join(", ");
	const data = {
		toolCallIds: calls.map(({ id }) => id),
		text: `This message waits for an answer to ${names}.`,
	};
	const said: readonly UiChunk[] = [
		{ type: "start", ...(messageId === undefined ? {} : { messageId: answerIdOf(messageId) }) },
		{ type: "data-queued", id: "queued", data },
		{ type: "finish", finishReason: "stop" },
	];
	return streamOf(exchange, sessionId, said);
}

/** Streams the response to answers for background tasks: it reports their calls, and other waits. */
function handedOver(
	exchange: Exchange,
	info: SessionInfo,
	answers: readonly CallAnswer[],
	end: LoggedEvent,
): Response {
	const calls = new Map(callsOf(info).map((call) => [call.id, call]));
	const settled = answers.flatMap((answer): UiChunk[] => {
		const { toolCallId, role } = answer;
		const { name = "", arguments: input = {} } = calls.get(toolCallId) ?? {};
		// The page already has the results it sent itself.
		if (role === "tool") return [];
		const made = { type: "tool-input-available", toolCallId, toolName: name, input } as const;
		const outcome: UiChunk = answer.approved
			? { type: "tool-output-available", toolCallId, output: continued }
			: { type: "tool-output-denied", toolCallId };
		return [{ ...made, providerExecuted: true }, outcome];
	});
	return streamOf(exchange, info.sessionId, [
		{ type: "start" },
		...settled,
		...new ChatProjection().add(end).filter(({ type }) => type !== "start"),
	]);
}

/** Returns a stream that has already ended. */
function streamOf(exchange: Exchange, sessionId: string, chunks: readonly UiChunk[]): Response {
	const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("") + closing;
	return exchange.closed(sessionId, text, headers);
}

/** Returns the waiting calls of the session and of its background tasks. */
function callsOf({
	pendingToolCalls = [],
	backgroundToolCalls = [],
}: SessionInfo): readonly PendingSessionCall[] {
	return [...pendingToolCalls, ...backgroundToolCalls];
}

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
	const answers = awaitedAnswers(given, callsOf(info));
	if (answers.length === 0)
		throw new HoldfastError(
			"no_pending_tool_calls",
			"The last message does not answer a call. Send a message.",
		);
	let submitted: Submitted;
	try {
		submitted = await submitToKnown(exchange, sessionId, { input: answers, ...chosen }, key);
	} catch (error) {
		if (!isHoldfastError(error) || !answeredElsewhere.has(error.code)) throw error;
		const place = await placeAfterCalls(exchange, info, given);
		if (place === undefined) throw error;
		// Another page answered first: show the result of its answer.
		const { after = place } = info.lastRun ?? {};
		return exchange.streamAs({ ...chatRun(sessionId, after, place), headers });
	}
	const denied = answers.flatMap((answer) =>
		answer.role === "approval" && !answer.approved ? [answer.toolCallId] : [],
	);
	const end = await exchange.endOf(submitted);
	if (end !== undefined) return handedOver(exchange, info, answers, end);
	const { after } = submitted;
	const run = chatRun(sessionId, info.lastRun?.after ?? after, after, { denied: new Set(denied) });
	return exchange.streamAs({ ...run, headers });
}

/** Codes that may mean that the calls were answered elsewhere. */
const answeredElsewhere: ReadonlySet<string> = new Set([
	"no_pending_tool_calls",
	"session_busy",
	"tool_call_settled",
	"tool_result_conflict",
	"tool_result_expired",
	"unknown_tool_call_id",
]);

/**
 * Returns the id after which the last run continued with answers to these calls; undefined if it did not wait for them.
 */
async function placeAfterCalls(
	{ service, caller }: Exchange,
	{ sessionId, lastRun }: SessionInfo,
	given: readonly CallAnswer[],
): Promise<string | undefined> {
	if (lastRun === undefined) return undefined;
	const asked = new Set(given.map(({ toolCallId }) => toolCallId));
	const { pendingToolCalls = [] } = (await service.get(caller, sessionId)) ?? {};
	if (pendingToolCalls.some(({ id }) => asked.has(id))) return undefined;
	let hasAsked = false;
	for await (const batch of service.follow(caller, sessionId, { after: lastRun.after, until: "never" })) {
		if (batch.length === 0) return undefined;
		for (const { id, event } of batch) {
			if (event.type === "awaiting_tool_execution")
				hasAsked = event.toolCalls.some((call) => asked.has(call.id));
			if (event.type === "execute_complete" && hasAsked) return id;
		}
	}
	return undefined;
}

/** Projects a run to chunks: those after `from` of the run that starts after `after`. */
function chatRun(sessionId: string, after: string, from: string, known: CallsKnown = {}): Projection {
	const projection = new ChatProjection(known);
	const project = projection.add.bind(projection);
	return projectedRun({ sessionId, after, from, until: "next end", project, closing });
}
