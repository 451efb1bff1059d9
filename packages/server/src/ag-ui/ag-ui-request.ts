// Parses an AG-UI request from a front end. Only messages that the session waits for count: a last message of the user,
// or results of its tools and answers to interrupts. The server keeps the history (keeps I2).

import { cutText } from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import type { PendingSessionCall } from "holdfast/execute";
import type { CallAnswer } from "../ai-sdk/index.ts";
import { readApprovalId } from "../ai-sdk/index.ts";
import type { JsonObject } from "../http/index.ts";
import { sessionIdOfBody } from "../http/index.ts";

/** A parsed request. */
export interface AgUiRequest {
	readonly threadId: string;
	readonly runId: string;
	/** The last message, if it is the user's. */
	readonly message: object | undefined;
	/** Answers to calls in messages and interrupts, including calls of earlier runs. */
	readonly answers: readonly CallAnswer[];
	/** For a new session. */
	readonly context: object;
}

/**
 * Reads a `RunAgentInput`.
 * @throws HoldfastError `invalid_input`.
 */
export function readAgUiRequest(body: JsonObject): AgUiRequest {
	const { runId, messages, tools = [], resume } = body;
	const threadId = sessionIdOfBody(body.threadId);
	if (threadId === undefined) throw invalid("threadId", "is missing. Send the id of the thread");
	if (typeof runId !== "string" || !/^[\x21-\x7e]{1,200}$/.test(runId))
		throw invalid("runId", "must be 1 to 200 visible ASCII characters");
	if (!Array.isArray(messages)) throw invalid("messages", "must be an array");
	const last: unknown = messages.at(-1);
	const interrupts = Array.isArray(resume) ? resume : [];
	const isMessage = interrupts.length === 0 && isRecord(last) && last.role === "user";
	return {
		threadId,
		runId,
		message: isMessage ? { role: "user", content: contentOf(last.content) } : undefined,
		answers: isMessage ? [] : [...messages.flatMap(toolAnswer), ...interrupts.map(interruptAnswer)],
		context: { tools: toolsOf(tools) },
	};
}

/** Returns the answers that calls wait for; if no call waits, the last ones, because they may have been sent before. */
export function awaitedOf(
	{ answers }: AgUiRequest,
	pending: readonly PendingSessionCall[] = [],
): readonly CallAnswer[] {
	const ids = new Set(pending.map(({ id }) => id));
	const awaited = answers.filter(({ toolCallId }) => ids.has(toolCallId));
	return awaited.length > 0 ? awaited : answers.slice(-1);
}

function toolAnswer(message: unknown): CallAnswer[] {
	if (!isRecord(message) || message.role !== "tool" || typeof message.toolCallId !== "string") return [];
	const { toolCallId, content, error } = message;
	const output = textOf(content);
	if (typeof error !== "string") return [{ role: "tool", toolCallId, output }];
	return [{ role: "tool", toolCallId, output: output === "" ? error : output, isError: true }];
}

function interruptAnswer(entry: unknown): CallAnswer {
	const { interruptId, status, payload } = isRecord(entry) ? entry : {};
	if (typeof interruptId !== "string") throw invalid("resume", "must name interrupts");
	const { approved: said, reason, input, ...unknown } = isRecord(payload) ? payload : { approved: payload };
	const [name] = Object.keys(unknown);
	if (name !== undefined)
		throw invalid("resume", `has an unknown member in a payload: ${JSON.stringify(cutText(name, 50))}`);
	const approved = status === "cancelled" ? false : said;
	if (typeof approved !== "boolean")
		throw invalid(
			"resume",
			"must answer with the payload {approved: true, input?} or {approved: false, reason?}",
		);
	const why = reason === undefined ? {} : { reason };
	const changed = input === undefined ? {} : { input };
	return { role: "approval", ...readApprovalId(interruptId), approved, ...why, ...changed };
}

function toolsOf(tools: unknown): readonly object[] {
	if (!Array.isArray(tools)) throw invalid("tools", "must be an array");
	return tools.map((tool: unknown) => {
		if (!isRecord(tool)) throw invalid("tools", "must be tools");
		const { name, description, parameters } = tool;
		return { name, description, ...(isRecord(parameters) ? { parameters } : {}) };
	});
}

function textOf(content: unknown): string {
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	return content.map((part: unknown) => (isRecord(part) && part.type === "text" ? part.text : "")).join("");
}

function contentOf(content: unknown): unknown {
	if (typeof content === "string" || !Array.isArray(content)) return content;
	return content.map((part: unknown) => {
		if (!isRecord(part)) throw invalid("messages", "has content that is not a part");
		if (part.type === "text") return { type: "text", text: part.text };
		const { type, value, mimeType } = isRecord(part.source) ? part.source : {};
		if (part.type === "image" && (type === "data" || type === "url"))
			return { type: "image", image: value, ...(mimeType === undefined ? {} : { mediaType: mimeType }) };
		if (type === "data") return { type: "file", data: value, mediaType: mimeType };
		throw invalid("messages", "has a file without its content: send it as data, or an image by its URL");
	});
}

function isRecord(value: unknown): value is JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(field: string, why: string): HoldfastError {
	return new HoldfastError("invalid_input", `\`${field}\` ${why}.`, { data: { field } });
}
