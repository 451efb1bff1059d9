// The messages of `createSession`: plain JSON, with one message for each tool result, and with errors and aborts as
// messages.
import type {
	AssistantContent,
	AssistantMessage,
	Message,
	ToolCall,
	ToolResultMessage,
	UserContent,
	UserMessage,
} from "@holdfast/upp";
import { type PlacedProviderPart, type ProviderPart, providerParts, replacedId } from "@holdfast/upp";
import type { MessageEvent } from "../facts/index.ts";
import { plainJson } from "../tools/index.ts";

/** A part of a user's message. */
export type UserPart =
	| { readonly type: "text"; readonly text: string }
	/** Base64 text or a URL. */
	| { readonly type: "image"; readonly image: string; readonly mediaType?: string }
	| { readonly type: "file"; readonly data: string; readonly mediaType: string; readonly filename?: string };

/** A tool call of an assistant message. */
export interface SessionToolCall {
	/** Identifies the call; its result has the same id. */
	readonly id: string;
	/** The tool to run. */
	readonly name: string;
	/** The arguments that the model wrote. */
	readonly arguments: Readonly<Record<string, unknown>>;
}

/** A part of a model's answer. */
export type AssistantPart =
	| { readonly type: "text"; readonly text: string }
	| { readonly type: "thinking"; readonly thinking: string }
	| (SessionToolCall & { readonly type: "toolCall" })
	/** A tool that the model's provider ran itself. */
	| (SessionToolCall & { readonly type: "providerToolCall" })
	| {
			readonly type: "providerToolResult";
			readonly toolCallId: string;
			readonly name: string;
			readonly output: string;
			readonly isError: boolean;
	  }
	/** A page or document that the model cites as a source. */
	| SourcePart
	/** A file created by the model, in base64, or its URL. */
	| { readonly type: "file"; readonly data: string; readonly mediaType: string };

/** A page or document that the model cites as a source. */
export interface SourcePart {
	readonly type: "source";
	/** Identifies the source within the answer. */
	readonly id: string;
	/** `url`, `document`, or another value that the provider defines. */
	readonly sourceType: string;
	/** The address of a page. */
	readonly url?: string;
	/** The title of the page or document. */
	readonly title?: string;
	/** The type of a document. */
	readonly mediaType?: string;
	/** The name of a document. */
	readonly filename?: string;
}

/** Token usage and price of one model call. */
export interface MessageUsage {
	/** Tokens of the prompt, including cached ones. */
	readonly inputTokens: number;
	/** Tokens of the answer, including reasoning. */
	readonly outputTokens: number;
	/** The sum of both, as the provider counts. */
	readonly totalTokens: number;
	/** US dollars; absent when prices are unknown. */
	readonly cost?: number;
}

/** A message of a user. */
export interface UserSessionMessage {
	readonly role: "user";
	/** Identifies the message. Default: a new id. */
	readonly id?: string;
	/** Text, or texts, images and files. */
	readonly content: string | readonly UserPart[];
	/** Milliseconds since the epoch. */
	readonly timestamp?: number;
}

/** An answer of a model. */
export interface AssistantSessionMessage {
	readonly role: "assistant";
	/** Identifies the message. */
	readonly id: string;
	/** Id of the earlier answer that this one replaces. Show it in place of that one. */
	readonly replaces?: string;
	/** Texts, reasoning and tool calls, in order. */
	readonly content: readonly AssistantPart[];
	/** Id of the model; empty if unknown. */
	readonly model: string;
	/** Why the model stopped. */
	readonly stopReason: "stop" | "length" | "tool_calls";
	/** The tokens of the answer. */
	readonly usage: MessageUsage;
	/** When the answer was complete, in milliseconds since the epoch. */
	readonly timestamp: number;
}

/** The result of a tool call. */
export interface ToolSessionMessage {
	readonly role: "tool";
	/** The call that it answers. */
	readonly toolCallId: string;
	/** The tool that was called. */
	readonly toolName: string;
	/** The output that the model sees. */
	readonly output: string;
	/** Whether the call failed. */
	readonly isError: boolean;
	/** Data for the application. Never sent to a model. */
	readonly details?: unknown;
	/** In milliseconds since the epoch. */
	readonly timestamp: number;
}

/** Records that a model failed or its answer was refused. Never sent to a model. */
export interface ErrorMessage {
	readonly role: "error";
	/** A description of the problem. */
	readonly error: string;
	/** Identifies the problem. */
	readonly code: string;
	/** The partial text. */
	readonly partial?: AssistantSessionMessage;
	/** In milliseconds since the epoch. */
	readonly timestamp: number;
}

/** Records that a run was stopped. Never sent to a model. */
export interface AbortedMessage {
	readonly role: "aborted";
	/** The part of the answer that was streamed. */
	readonly partial?: AssistantSessionMessage;
	/** In milliseconds since the epoch. */
	readonly timestamp: number;
}

/** A message of a session's history. */
export type SessionMessage =
	| UserSessionMessage
	| AssistantSessionMessage
	| ToolSessionMessage
	| ErrorMessage
	| AbortedMessage;

/** Returns the output of a tool as text. */
export function outputText(result: unknown): string {
	return typeof result === "string" ? result : (JSON.stringify(result) ?? "");
}

/** Converts a call of an assistant message. */
export function sessionCall({ toolCallId: id, toolName: name, arguments: given }: ToolCall): SessionToolCall {
	return { id, name, arguments: plainJson(given) as Record<string, unknown> };
}

/** Converts a user's message. */
export function userMessage(message: UserMessage): UserSessionMessage {
	const [first] = message.content;
	const content =
		message.content.length === 1 && first?.type === "text" ? first.text : message.content.map(userPart);
	return { role: "user", id: message.id, content, timestamp: message.timestamp.getTime() };
}

const noUsage: MessageUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** Converts a model's answer, complete or cut off. */
export function assistantMessage(
	message: AssistantMessage,
	about: Partial<Pick<MessageEvent, "usage" | "cost" | "modelId" | "stopReason">> = {},
): AssistantSessionMessage {
	const { usage = noUsage, cost, modelId = "", stopReason } = about;
	const calls = (message.toolCalls ?? []).map(
		(call): AssistantPart => ({ type: "toolCall", ...sessionCall(call) }),
	);
	const replaces = replacedId(message);
	return {
		role: "assistant",
		id: message.id,
		...(replaces === undefined ? {} : { replaces }),
		content: [...contentParts(message), ...calls],
		model: modelId,
		stopReason: message.hasToolCalls ? "tool_calls" : stopReason === "length" ? "length" : "stop",
		usage: { ...usage, ...(cost === undefined ? {} : { cost }) },
		timestamp: message.timestamp.getTime(),
	};
}

/** Converts a history to messages of `createSession` if nothing but the history is known. */
export function sessionMessages(messages: readonly Message[]): SessionMessage[] {
	const names = new Map<string, string>();
	return messages.flatMap((message): SessionMessage[] => {
		if (message.type === "user") return [userMessage(message as UserMessage)];
		if (message.type === "assistant") {
			for (const call of (message as AssistantMessage).toolCalls ?? [])
				names.set(call.toolCallId, call.toolName);
			return [assistantMessage(message as AssistantMessage)];
		}
		return (message as ToolResultMessage).results.map(({ toolCallId, result, isError }) => ({
			role: "tool",
			toolCallId,
			toolName: names.get(toolCallId) ?? "",
			output: outputText(result),
			isError: isError === true,
			timestamp: message.timestamp.getTime(),
		}));
	});
}

function userPart(part: UserContent): UserPart {
	if (part.type === "text") return { type: "text", text: part.text };
	if (part.type === "image")
		return { type: "image", image: sourceText(part.source), mediaType: part.mimeType };
	if (part.type === "document" && part.source.type === "text")
		return { type: "text", text: part.source.data };
	const data = part.type === "document" ? sourceText(part.source) : (plainJson(part.data) as string);
	const filename = part.type === "document" && part.title !== undefined ? { filename: part.title } : {};
	return { type: "file", data, mediaType: part.mimeType, ...filename };
}

function sourceText(source: {
	type: string;
	data?: string | Uint8Array;
	url?: string;
	reference?: Record<string, string>;
}): string {
	if (source.url !== undefined) return source.url;
	if (source.reference !== undefined) return JSON.stringify(source.reference);
	return typeof source.data === "string" ? source.data : (plainJson(source.data) as string);
}

/** Returns the content of an answer. Tool calls that the provider executed itself appear in their original position. */
function contentParts(message: AssistantMessage): AssistantPart[] {
	const placed = providerParts(message);
	if (placed.length === 0) return message.content.flatMap(assistantPart);
	const parts: AssistantPart[] = [];
	let next = 0;
	for (let at = 0; at <= message.content.length; at++) {
		for (; next < placed.length && (placed[next]?.at ?? 0) <= at; next++)
			parts.push(providerPart((placed[next] as PlacedProviderPart).part));
		const block = message.content[at];
		if (block !== undefined) parts.push(...assistantPart(block));
	}
	return parts;
}

function providerPart(part: ProviderPart): AssistantPart {
	switch (part.type) {
		case "call": {
			const { toolCallId: id, toolName: name, input } = part;
			return {
				type: "providerToolCall",
				id,
				name,
				arguments: plainJson(input ?? {}) as Record<string, unknown>,
			};
		}
		case "result": {
			const { toolCallId, toolName: name, output, isError } = part;
			return { type: "providerToolResult", toolCallId, name, output: outputText(output), isError };
		}
		case "source": {
			const { id, sourceType, url, title, mediaType, filename } = part;
			return {
				type: "source",
				id,
				sourceType,
				...(url === undefined ? {} : { url }),
				...(title === undefined ? {} : { title }),
				...(mediaType === undefined ? {} : { mediaType }),
				...(filename === undefined ? {} : { filename }),
			};
		}
	}
}

function assistantPart(part: AssistantContent): AssistantPart[] {
	if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
	if (part.type === "reasoning") return part.text === "" ? [] : [{ type: "thinking", thinking: part.text }];
	const data = "source" in part ? sourceText(part.source) : (plainJson(part.data) as string);
	return [{ type: "file", data, mediaType: part.mimeType }];
}
