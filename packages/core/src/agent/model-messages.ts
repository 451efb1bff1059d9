// The conversation in the form of a model function: messages shaped like those of the AI SDK. Each is a copy, so the
// function cannot change the history.
import type {
	AnyMessage,
	AssistantMessage,
	ContentBlock,
	Message,
	ToolCall,
	ToolResult,
} from "@holdfast/upp";
import { plainJson } from "../tools/index.ts";

/** A part of a message in the AI SDK's format: text, reasoning, file (including images), tool-call or tool-result. */
export interface ModelMessagePart {
	/** The kind of part. */
	readonly type: string;
	/** The text of a text or reasoning part. */
	readonly text?: string;
	/** The id of the call, for `tool-call` and `tool-result`. */
	readonly toolCallId?: string;
	/** The tool of that call. */
	readonly toolName?: string;
	/** The arguments of a `tool-call`. */
	readonly input?: unknown;
	/** The result of a `tool-result`. */
	readonly output?: unknown;
	/** The other members of the AI SDK's part. */
	readonly [member: string]: unknown;
}

/** A message shaped like the AI SDK's `ModelMessage`. */
export interface ModelMessage {
	/** The author of the message. */
	readonly role: "system" | "user" | "assistant" | "tool";
	/** Text, or a list of parts. */
	readonly content: string | readonly ModelMessagePart[];
}

/** Copies the messages into a new list. */
export function toModelMessages(messages: readonly Message[]): ModelMessage[] {
	const toolNames = new Map<string, string>();
	return messages.map((message) => convert(message as AnyMessage, toolNames));
}

function convert(message: AnyMessage, toolNames: Map<string, string>): ModelMessage {
	switch (message.type) {
		case "user":
			return { role: "user", content: textOr(message.content, () => message.content.map(partOf)) };
		case "assistant":
			for (const call of message.toolCalls ?? []) toolNames.set(call.toolCallId, call.toolName);
			return { role: "assistant", content: message.hasToolCalls ? assistantParts(message) : said(message) };
		case "tool_result":
			return { role: "tool", content: message.results.map((each) => resultPart(each, toolNames)) };
	}
}

function said(message: AssistantMessage): ModelMessage["content"] {
	return textOr(message.content, () => assistantParts(message));
}

/** Returns a single block of plain text as a string, and anything else as a list of parts. */
function textOr(
	content: readonly ContentBlock[],
	parts: () => readonly ModelMessagePart[],
): ModelMessage["content"] {
	const [only] = content;
	return content.length === 1 && only?.type === "text" && only.metadata === undefined ? only.text : parts();
}

function assistantParts(message: AssistantMessage): readonly ModelMessagePart[] {
	return [...message.content.map(partOf), ...(message.toolCalls ?? []).map(callPart)];
}

function callPart({ toolCallId, toolName, arguments: input, metadata }: ToolCall): ModelMessagePart {
	return { type: "tool-call", toolCallId, toolName, input: structuredClone(input), ...options(metadata) };
}

function resultPart(
	{ toolCallId, result, isError }: ToolResult,
	names: Map<string, string>,
): ModelMessagePart {
	const kind = typeof result === "string" ? "text" : "json";
	return {
		type: "tool-result",
		toolCallId,
		toolName: names.get(toolCallId) ?? "unknown",
		output: { type: isError === true ? `error-${kind}` : kind, value: structuredClone(plainJson(result)) },
	};
}

function partOf(block: ContentBlock): ModelMessagePart {
	switch (block.type) {
		case "text":
		case "reasoning":
			return { type: block.type, text: block.text, ...options(block.metadata) };
		case "image":
			return {
				type: "file",
				data: dataOf(block.source),
				mediaType: block.mimeType,
				...options(block.metadata),
			};
		case "document": {
			const filename = block.title === undefined ? {} : { filename: block.title };
			const data = dataOf(block.source);
			return { type: "file", data, mediaType: block.mimeType, ...filename, ...options(block.metadata) };
		}
		default:
			return { type: "file", data: block.data.slice(), mediaType: block.mimeType };
	}
}

function dataOf(source: Extract<ContentBlock, { type: "image" | "document" }>["source"]): unknown {
	if (source.type === "bytes") return source.data.slice();
	if (source.type === "url") return URL.canParse(source.url) ? new URL(source.url) : source.url;
	if (source.type === "reference") return { type: "reference", reference: { ...source.reference } };
	return source.type === "text" ? new TextEncoder().encode(source.data) : source.data;
}

/** Returns the options that the provider needs back. */
function options(metadata: object | undefined): { providerOptions?: unknown } {
	return metadata === undefined ? {} : { providerOptions: structuredClone(metadata) };
}
