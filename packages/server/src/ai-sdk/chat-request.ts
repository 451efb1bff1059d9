// What a page sends with `useChat`: of all its messages only the last one counts, a message of the user or an answer with
// results of tools and approvals. The server keeps the history: what a page says was said before is not believed, for
// anybody could put words into the agent's mouth, and it would be sent again with every message (keeps I2, I5).

import type { PendingSessionCall } from "holdfast";
import { HoldfastError } from "holdfast";
import type { JsonObject } from "../http/index.ts";
import { sessionIdOfBody } from "../http/index.ts";
import { readApprovalId } from "./ui-chunk.ts";

/** An answer to a call, as an execution takes it. */
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
			readonly reason?: string;
	  };

/** What is asked for. */
export interface ChatRequest {
	readonly sessionId: string;
	/** A user's message, or what its message says of calls. */
	readonly input:
		| { readonly kind: "message"; readonly message: object }
		| { readonly kind: "answers"; readonly answers: readonly CallAnswer[] };
	/** Of a new session. */
	readonly context: unknown;
	readonly options: unknown;
}

/**
 * Reads the body that `DefaultChatTransport` sends; `context` and `options` are those of an execution.
 * @throws HoldfastError `invalid_input`.
 */
export function readChatRequest(body: JsonObject): ChatRequest {
	const { messages, messageId, trigger, context = {}, options } = body;
	const sessionId = sessionIdOfBody(body.id);
	if (sessionId === undefined) throw invalid("id", "is missing. Send the id of the chat");
	if (trigger === "regenerate-message") throw invalid("trigger", noOtherPast);
	if (!Array.isArray(messages) || messages.length === 0)
		throw invalid("messages", "must be the messages of the chat");
	const named = messages.find((message) => isRecord(message) && message.id === messageId);
	const message: unknown = messageId === undefined ? messages.at(-1) : (named ?? messages.at(-1));
	if (!isRecord(message) || !Array.isArray(message.parts))
		throw invalid("messages", "must end with a message that has parts");
	if (message.role === "assistant")
		return { sessionId, input: { kind: "answers", answers: answersOf(message.parts) }, context, options };
	if (message.role !== "user") throw invalid("messages", "must end with a message of the user");
	if (messageId !== undefined) throw invalid("messageId", noOtherPast);
	return { sessionId, input: { kind: "message", message: userMessage(message.parts) }, context, options };
}

/** Those answers that calls wait for; all of them where none waits, for they may have been sent before. */
export function awaitedAnswers(
	answers: readonly CallAnswer[],
	pending: readonly PendingSessionCall[] = [],
): readonly CallAnswer[] {
	const waiting = new Map(pending.map(({ id, approval }) => [id, approval === true ? "approval" : "tool"]));
	const awaited = answers.filter(({ toolCallId, role }) => waiting.get(toolCallId) === role);
	return awaited.length === 0 ? answers : awaited;
}

const noOtherPast =
	"asks for another past, and a session keeps its own. Send a new message, or begin another chat with what was said before as `context.messages`";

/** What the last step of an answer says of its calls. */
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
	if (data === undefined) throw invalid("messages", "has a file that is no image and no base64 data URL");
	return { type: "file", data, mediaType, ...(typeof filename === "string" ? { filename } : {}) };
}

function isRecord(value: unknown): value is JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(field: string, why: string): HoldfastError {
	return new HoldfastError("invalid_input", `\`${field}\` ${why}.`, { data: { field } });
}
