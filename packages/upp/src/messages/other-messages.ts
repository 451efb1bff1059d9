// Messages from other packages with the same protocol are accepted and converted. Anything else is refused with an error
// that explains what to pass.

import { isThenable } from "../promises/index.ts";
import { type AssistantContent, isContentBlock, type UserContent } from "./content.ts";
import {
	type AnyMessage,
	AssistantMessage,
	isMessage,
	type MessageOptions,
	ToolResultMessage,
	UserMessage,
} from "./message.ts";
import type { ToolCall, ToolResult } from "./tool.ts";

/**
 * Returns the value if it is a message. Converts a compatible message from another package, keeping its id, time and
 * metadata. Undefined for anything else.
 */
export function asMessage(value: unknown): AnyMessage | undefined {
	if (isMessage(value)) return value;
	if (typeof value !== "object" || value === null) return undefined;
	const { type, id, timestamp, metadata, content, toolCalls, results } = value as Record<string, unknown>;
	if (typeof id !== "string" || !(timestamp instanceof Date) || Number.isNaN(timestamp.getTime())) {
		return undefined;
	}
	const options: MessageOptions = { id, timestamp };
	if (isObject(metadata)) options.metadata = metadata as MessageOptions["metadata"] & object;
	switch (type) {
		case "user":
			return isContent(content) ? new UserMessage(content as UserContent[], options) : undefined;
		case "assistant":
			if (!isContent(content) || !(toolCalls === undefined || isListOf(toolCalls, isCall))) return undefined;
			return new AssistantMessage(
				content as AssistantContent[],
				toolCalls as ToolCall[] | undefined,
				options,
			);
		case "tool_result":
			return isListOf(results, isResult)
				? new ToolResultMessage(results as ToolResult[], options)
				: undefined;
		default:
			return undefined;
	}
}

/**
 * Converts messages as `asMessage` does. Returns the same list if none needs converting, and undefined if one is not a
 * message.
 */
export function asMessages(values: readonly unknown[]): readonly AnyMessage[] | undefined {
	if (values.every(isMessage)) return values as readonly AnyMessage[];
	const messages = values.map(asMessage);
	return messages.includes(undefined) ? undefined : (messages as AnyMessage[]);
}

/** Returns a sentence on what to pass instead of a value that is not a message. */
export function insteadOf(value: unknown): string {
	if (isThenable(value)) return "It is a promise: await it first.";
	const { role, content, type } = (isObject(value) ? value : {}) as Record<string, unknown>;
	if (typeof role === "string" && content !== undefined)
		return `It looks like a message of the AI SDK or of a provider's API, with \`role\` "${role}": give its content to a UserMessage, an AssistantMessage or a ToolResultMessage of "@holdfast/upp".`;
	if (type === "user" || type === "assistant" || type === "tool_result")
		return "It looks like a message as JSON data, or one without `id`, `timestamp` or valid content: JSON data is read with messageFromJSON().";
	return 'Give a UserMessage, an AssistantMessage or a ToolResultMessage of "@holdfast/upp".';
}

function isContent(value: unknown): boolean {
	return isListOf(value, isContentBlock);
}

function isCall(value: unknown): boolean {
	const call = value as Partial<ToolCall> | null;
	return (
		typeof call?.toolCallId === "string" && typeof call.toolName === "string" && isObject(call.arguments)
	);
}

function isResult(value: unknown): boolean {
	return typeof (value as Partial<ToolResult> | null)?.toolCallId === "string";
}

function isListOf(value: unknown, isOne: (each: unknown) => boolean): boolean {
	return Array.isArray(value) && value.every(isOne);
}

function isObject(value: unknown): value is object {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
