// The three kinds of message. They are cheap to create (an engine creates several per step) and immutable. `text` is
// computed on access.

import { uuid } from "../ids/index.ts";
import type { AssistantContent, ContentBlock, ProviderMetadata, UserContent } from "./content.ts";
import type { ToolCall, ToolResult } from "./tool.ts";

import { encodeValue, type JSONValue } from "./value-codec.ts";

const brand = Symbol.for("holdfast.message");

/** Options of any message. */
export interface MessageOptions {
	/** Default: a new random UUID. */
	id?: string;
	/** Default: now. */
	timestamp?: Date;
	/** Kept unchanged, keyed by the provider's name. */
	metadata?: ProviderMetadata;
}

/** The kind of a message. */
export type MessageType = "user" | "assistant" | "tool_result";

/** The common base of all messages. */
export abstract class Message {
	/** A UUID, unless it was set in the options. */
	readonly id: string;
	/** When it was created. */
	readonly timestamp: Date;
	declare readonly metadata?: ProviderMetadata;
	/** The kind of message. */
	abstract readonly type: MessageType;

	/** Called by the kinds of messages. */
	constructor(options: MessageOptions | undefined) {
		this.id = options?.id ?? uuid();
		this.timestamp = options?.timestamp ?? new Date();
		if (options?.metadata !== undefined) this.metadata = options.metadata;
	}

	/** The text of the message. Parts from a user or several tools are joined by a blank line. */
	abstract get text(): string;

	/** Converts the message to JSON data. */
	toJSON(): MessageJSON {
		return messageToJSON(this as unknown as AnyMessage);
	}

	static {
		Object.defineProperty(this.prototype, brand, { value: true });
	}
}

/** A user's message. */
export class UserMessage extends Message {
	readonly type: "user" = "user";
	/** Text and media, in the order in which the model sees them. */
	readonly content: readonly UserContent[];

	/** Creates a message; a string becomes one text block. */
	constructor(content: string | readonly UserContent[], options?: MessageOptions) {
		super(options);
		this.content = typeof content === "string" ? [{ type: "text", text: content }] : content;
	}

	get text(): string {
		return textOf(this.content, "\n\n");
	}
}

/** A model's answer: content, and tool calls. */
export class AssistantMessage extends Message {
	readonly type: "assistant" = "assistant";
	/** Text, reasoning and media, in the order in which the model produced them. */
	readonly content: readonly AssistantContent[];
	/** The tool calls of the model; absent without any. */
	declare readonly toolCalls?: readonly ToolCall[];

	/** Creates a message; a string becomes one text block. */
	constructor(
		content: string | readonly AssistantContent[],
		toolCalls?: readonly ToolCall[],
		options?: MessageOptions,
	) {
		super(options);
		this.content = typeof content === "string" ? [{ type: "text", text: content }] : content;
		if (toolCalls !== undefined) this.toolCalls = toolCalls;
	}

	/** Whether the model makes at least one tool call. */
	get hasToolCalls(): boolean {
		return this.toolCalls !== undefined && this.toolCalls.length > 0;
	}

	/**
	 * The text as the model wrote it. Adjacent text blocks are joined directly, because a model that cites its sources
	 * starts a new block within a sentence. If there is another block between them, a blank line separates them.
	 */
	get text(): string {
		return textOf(this.content, "");
	}
}

/** The results of tool calls. */
export class ToolResultMessage extends Message {
	readonly type: "tool_result" = "tool_result";
	/** One result for each call of the assistant message before it. */
	readonly results: readonly ToolResult[];

	/** Creates a message with these results. */
	constructor(results: readonly ToolResult[], options?: MessageOptions) {
		super(options);
		this.results = results;
	}

	get text(): string {
		return this.results.map((entry) => resultText(entry.result)).join("\n\n");
	}
}

/** Any of the three kinds, distinguished by `type`. */
export type AnyMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** Whether a value is a message, including one created by another installed copy of this package. */
export function isMessage(value: unknown): value is AnyMessage {
	return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}

/** Whether a value is a user message, including one created by another installed copy of this package. */
export function isUserMessage(value: unknown): value is UserMessage {
	return isMessage(value) && value.type === "user";
}

/** Whether a value is an assistant message, including one created by another installed copy of this package. */
export function isAssistantMessage(value: unknown): value is AssistantMessage {
	return isMessage(value) && value.type === "assistant";
}

/** Whether a value is a message of tool results, including one created by another installed copy of this package. */
export function isToolResultMessage(value: unknown): value is ToolResultMessage {
	return isMessage(value) && value.type === "tool_result";
}

/** @param between the separator between adjacent text blocks. */
function textOf(content: readonly ContentBlock[], between: string): string {
	const first = content[0];
	if (content.length === 1 && first?.type === "text") return first.text;
	let text: string | undefined;
	let follows = false;
	for (const block of content) {
		const isText = block.type === "text";
		if (isText) text = text === undefined ? block.text : text + (follows ? between : "\n\n") + block.text;
		follows = isText;
	}
	return text ?? "";
}

function resultText(result: unknown): string {
	if (typeof result === "string") return result;
	return JSON.stringify(result) ?? "";
}

/** A message as JSON data. */
export interface MessageJSON {
	/** Id of the message. */
	id: string;
	/** The kind of message. */
	type: MessageType;
	/** The content blocks; bytes are encoded as base64. */
	content: JSONValue[];
	/** The tool calls of an assistant message. */
	toolCalls?: JSONValue[];
	/** The results of a tool result message. */
	results?: JSONValue[];
	/** Data for providers, keyed by the provider's name. */
	metadata?: JSONValue;
	/** In ISO 8601. */
	timestamp: string;
}

/**
 * Converts a message to JSON data that `messageFromJSON` restores exactly.
 * @throws HoldfastError `unserialisable_value` if content or results contain values that JSON cannot represent.
 */
export function messageToJSON(message: Message): MessageJSON {
	const given = message as AnyMessage;
	const json: MessageJSON = {
		id: given.id,
		type: given.type,
		content: given.type === "tool_result" ? [] : (encodeValue(given.content) as JSONValue[]),
		timestamp: given.timestamp.toISOString(),
	};
	if (given.type === "assistant" && given.toolCalls !== undefined) {
		json.toolCalls = encodeValue(given.toolCalls) as JSONValue[];
	}
	if (given.type === "tool_result") json.results = encodeValue(given.results) as JSONValue[];
	if (given.metadata !== undefined) json.metadata = encodeValue(given.metadata);
	return json;
}
