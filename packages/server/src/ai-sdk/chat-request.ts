// Parses a `useChat` request. Only the last message counts: a user message, one that was edited or is to be answered
// again, or an answer with results of tools and approvals. The server keeps the history and ignores the page's version:
// otherwise a client could invent messages of the agent, and every request would send the history again (keeps I2, I5).

import { HoldfastError } from "holdfast";
import type { PendingSessionCall } from "holdfast/execute";
import type { JsonObject } from "../http/index.ts";
import { sessionIdOfBody } from "../http/index.ts";
import { readApprovalId } from "./ui-chunk.ts";

/** An answer to a call, in the form an execution accepts. */
export type CallAnswer =
	| {
			readonly role: "tool";
			readonly toolCallId: string;
			readonly output: unknown;
			readonly isError?: boolean;
	  }
	| {
			readonly role: "approval";
			readonly toolCallId: string;
			readonly runId?: string;
			readonly approved: boolean;
			readonly reason?: unknown;
			readonly input?: unknown;
	  };

/** A parsed request. */
export interface ChatRequest {
	readonly sessionId: string;
	/** A user's message, or the answers to calls that its message contains. */
	readonly input: GivenMessage | { readonly kind: "answers"; readonly answers: readonly CallAnswer[] };
	/** For a new session. */
	readonly context: unknown;
	readonly options: unknown;
}

/** A user message as the page has it. */
export interface GivenMessage {
	/** `edit`: replaces the message with that id. `again`: its answer is generated again. */
	readonly kind: "message" | "edit" | "again";
	readonly message: object;
	/** The page's id of the message, if it can be the session's id too. */
	readonly id: string | undefined;
	/** The page's id of the answer to generate again, if it has one. */
	readonly answerId?: string;
}

/**
 * Reads the body that `DefaultChatTransport` sends; `context` and `options` have the form of an execution.
 * @throws HoldfastError `invalid_input`.
 */
export function readChatRequest(body: JsonObject): ChatRequest {
	const { messages, messageId, trigger, context = {}, options } = body;
	const sessionId = sessionIdOfBody(body.id);
	if (sessionId === undefined) throw invalid("id", "is missing. Send the id of the chat");
	if (!Array.isArray(messages) || messages.length === 0)
		throw invalid("messages", "must be the messages of the chat");
	const isAgain = trigger === "regenerate-message";
	const named = messages.find((message) => isRecord(message) && message.id === messageId);
	const message: unknown = isAgain ? messages.at(-1) : (named ?? messages.at(-1));
	if (!isRecord(message) || !Array.isArray(message.parts))
		throw invalid("messages", "must end with a message that has parts");
	if (message.role === "assistant" && !isAgain)
		return { sessionId, input: { kind: "answers", answers: answersOf(message.parts) }, context, options };
	if (message.role !== "user") throw invalid("messages", "must end with a message of the user");
	const kind = isAgain ? "again" : messageId === undefined ? "message" : "edit";
	const given: GivenMessage = {
		kind,
		message: userMessage(message.parts),
		id: isMessageId(message.id) ? message.id : undefined,
		...(isAgain && typeof messageId === "string" ? { answerId: messageId } : {}),
	};
	return { sessionId, input: given, context, options };
}

/** Returns the answers that calls wait for; if no call waits, all of them, because they may have been sent before. */
export function awaitedAnswers(
	answers: readonly CallAnswer[],
	pending: readonly PendingSessionCall[] = [],
): readonly CallAnswer[] {
	const waiting = new Map(pending.map(({ id, approval }) => [id, approval === true ? "approval" : "tool"]));
	const awaited = answers.filter(({ toolCallId, role }) => waiting.get(toolCallId) === role);
	return awaited.length === 0 ? answers : awaited;
}

/** Whether a page's message id can be the session's: short, and of plain characters. */
function isMessageId(id: unknown): id is string {
	return typeof id === "string" && /^[\x21-\x7e]{1,128}$/.test(id);
}

/** Returns the answers to calls in the last step of a message. */
function answersOf(parts: readonly unknown[]): readonly CallAnswer[] {
	const step = parts.findLastIndex((part) => isRecord(part) && part.type === "step-start");
	return parts.slice(step + 1).flatMap((part): CallAnswer[] => {
		if (!isRecord(part) || typeof part.toolCallId !== "string") return [];
		const { toolCallId, state, output, errorText, approval } = part;
		if (state === "approval-responded" && isRecord(approval) && typeof approval.approved === "boolean") {
			const reason = typeof approval.reason === "string" ? { reason: approval.reason } : {};
			const { runId } = readApprovalId(String(approval.id));
			const about = { toolCallId, ...(runId === undefined ? {} : { runId }) };
			return [{ role: "approval", ...about, approved: approval.approved, ...reason }];
		}
		if (part.providerExecuted === true) return [];
		if (state === "output-available") return [{ role: "tool", toolCallId, output: output ?? null }];
		if (state === "output-error")
			return [{ role: "tool", toolCallId, output: String(errorText ?? "The tool failed."), isError: true }];
		return [];
	});
}

function userMessage(parts: readonly unknown[]): object {
	const content = parts.flatMap((part): object[] => {
		if (!isRecord(part)) return [];
		if (part.type === "text" && typeof part.text === "string" && part.text !== "")
			return [{ type: "text", text: part.text }];
		return part.type === "file" ? [filePart(part)] : [];
	});
	if (content.length === 0) throw invalid("messages", "must end with a message that has text or files");
	return { role: "user", content };
}

function filePart({ url, mediaType, filename }: JsonObject): object {
	if (typeof url !== "string" || typeof mediaType !== "string")
		throw invalid("messages", "has a file without `url` or `mediaType`");
	const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
	if (mediaType.startsWith("image/")) return { type: "image", image: data ?? url, mediaType };
	if (data === undefined)
		throw invalid("messages", "has a file that is neither an image nor a base64 data URL");
	return { type: "file", data, mediaType, ...(typeof filename === "string" ? { filename } : {}) };
}

function isRecord(value: unknown): value is JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(field: string, why: string): HoldfastError {
	return new HoldfastError("invalid_input", `\`${field}\` ${why}.`, { data: { field } });
}
