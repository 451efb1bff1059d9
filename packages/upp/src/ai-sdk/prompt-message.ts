// Converts one message to the AI SDK's prompt format.

import {
	type AnyMessage,
	type AssistantMessage,
	bytesToBase64,
	type ContentBlock,
	isAssistantMessage,
	isContentBlock,
	type Message,
	type ToolCall,
	type ToolResult,
	type ToolResultMessage,
	type UserMessage,
} from "../messages/index.ts";
import { wellFormed } from "../text/index.ts";
import { wireArguments, wireToolName } from "../wire/index.ts";
import { carriedBy } from "./carried.ts";
import type { Dialect } from "./dialect.ts";
import { type FileBlock, filePart, resultFilePart, type SpecificationVersion } from "./file-parts.ts";
import type { AISDKMetadata, PromptMessage, PromptPart, ResultOutput } from "./language-model-types.ts";

const unknownTool = "unknown";

/** Whether a converted message is the same in every conversation. A result without its call lacks the tool's name. */
export function isWhole({ role, content }: PromptMessage): boolean {
	return role !== "tool" || (content as PromptPart[]).every(({ toolName }) => toolName !== unknownTool);
}

/** Converts the message at a position of a conversation to the AI SDK's prompt format. */
export function promptMessage(messages: readonly Message[], index: number, dialect: Dialect): PromptMessage {
	const message = messages[index] as AnyMessage;
	switch (message.type) {
		case "user":
			return wellFormed(withOptions(message, { role: "user", content: userParts(message, dialect) }));
		case "assistant":
			return wellFormed(
				withOptions(message, { role: "assistant", content: assistantParts(message, dialect) }),
			);
		case "tool_result":
			return wellFormed({ role: "tool", content: resultParts(message, messages, index, dialect) });
	}
}

function withOptions(message: UserMessage | AssistantMessage, converted: PromptMessage): PromptMessage {
	// On a model's own answer, message metadata is the provider's information about it, not options for the next call.
	if (message.metadata !== undefined && carriedBy(message) === undefined) {
		converted.providerOptions = message.metadata;
	}
	return converted;
}

/** Providers refuse a message without content, and text that is blank. */
const blankInput = "(empty message)";

function userParts(message: UserMessage, { version }: Dialect): PromptPart[] {
	const parts = message.content.filter(isSaid).map((block) => contentPart(block, version));
	return parts.length > 0 ? parts : [{ type: "text", text: blankInput }];
}

/** Blank text is omitted, unless its provider attached data to it. */
function isSaid(block: ContentBlock): boolean {
	return block.type !== "text" || block.metadata !== undefined || block.text.trim() !== "";
}

function assistantParts(message: AssistantMessage, dialect: Dialect): PromptPart[] {
	const parts = placedParts(message, dialect);
	// Reasoning alone is not an answer: a provider that does not support it would see an empty message.
	if (parts.every(({ type }) => type === "reasoning")) return [];
	const isSilent = parts.every(({ type }) => type === "file" || type.startsWith("reasoning"));
	return isSilent && !dialect.readsOwnFiles ? [...parts, { type: "text", text: onlyFiles }] : parts;
}

/** Added for providers that omit the files of an answer: they refuse a message without anything else. */
const onlyFiles = "(a file)";

function placedParts(message: AssistantMessage, dialect: Dialect): PromptPart[] {
	const { version } = dialect;
	const carried = carriedBy(message);
	const calls = message.toolCalls ?? [];
	if (carried?.parts === undefined && carried?.callPlaces === undefined) {
		const parts = message.content.filter(isSaid).map((block) => contentPart(block, version));
		for (const call of calls) parts.push(callPart(call, dialect));
		return parts;
	}
	const parts: PromptPart[] = [];
	for (let at = 0; at <= message.content.length; at++) {
		for (const placed of carried?.parts ?? []) if (placed.at === at) parts.push(placed.part);
		for (const call of calls)
			if (carried?.callPlaces?.[givenId(call)] === at) parts.push(callPart(call, dialect));
		const block = message.content[at];
		if (block !== undefined && isSaid(block)) parts.push(contentPart(block, version));
	}
	for (const call of calls) {
		if (carried?.callPlaces?.[givenId(call)] === undefined) parts.push(callPart(call, dialect));
	}
	return parts;
}

function contentPart(block: ContentBlock, version: SpecificationVersion): PromptPart {
	if (block.type !== "text" && block.type !== "reasoning") return filePart(block, version);
	const part: PromptPart = { type: block.type, text: block.text };
	if (block.metadata !== undefined) part.providerOptions = block.metadata;
	return part;
}

/** Returns the id that the provider gave the call. */
function givenId({ toolCallId, providerCall }: ToolCall): string {
	return providerCall?.id ?? toolCallId;
}

/** Whether the call is a question of this provider. Another provider knows neither the question nor the tool. */
function isAsked({ approvalId, approvalProvider }: ToolCall, { provider }: Dialect): boolean {
	return approvalId !== undefined && (approvalProvider === undefined || approvalProvider === provider);
}

function callPart(call: ToolCall, dialect: Dialect): PromptPart {
	const { callId, properties } = dialect;
	const part: PromptPart = {
		type: "tool-call",
		toolCallId: callId(call.toolCallId),
		toolName: wireToolName(call.toolName),
		input: properties === "any" ? call.arguments : wireArguments(call.arguments),
	};
	if (isAsked(call, dialect)) {
		part.toolName = call.toolName;
		part.input = call.arguments;
		part.providerExecuted = true;
	}
	if (call.metadata !== undefined) part.providerOptions = call.metadata as AISDKMetadata;
	return part;
}

function resultParts(
	message: ToolResultMessage,
	messages: readonly Message[],
	index: number,
	dialect: Dialect,
): PromptPart[] {
	const { version, callId } = dialect;
	const callOf = callsBefore(messages, index, message.results.length);
	return message.results.map((entry) => {
		const call = callOf(entry.toolCallId);
		if (call?.approvalId !== undefined && isAsked(call, dialect)) return approvalPart(call.approvalId, entry);
		return {
			type: "tool-result",
			toolCallId: callId(entry.toolCallId),
			toolName: wireToolName(call?.toolName ?? unknownTool),
			output:
				call?.approvalId === undefined || entry.denied === true || entry.isError === true
					? resultOutput(entry, version)
					: { type: "error-text", value: ofAnotherProvider },
		};
	});
}

/** What another provider sees as the result of an approved call. */
const ofAnotherProvider = "This tool belongs to another provider. It was approved, but has not run here.";

function approvalPart(approvalId: string, { result, isError, denied }: ToolResult): PromptPart {
	const approved = isError !== true && denied !== true;
	const reason = approved || typeof result !== "string" || result === "" ? {} : { reason: result };
	return { type: "tool-approval-response", approvalId, approved, ...reason };
}

// The prompt needs the tool's name with each result; the nearest preceding assistant message with calls has it.
function callsBefore(
	messages: readonly Message[],
	before: number,
	results: number,
): (toolCallId: string) => ToolCall | undefined {
	for (let index = before - 1; index >= 0; index--) {
		const message = messages[index];
		if (!isAssistantMessage(message) || message.toolCalls === undefined) continue;
		const calls = message.toolCalls;
		if (results < 8) return (id) => calls.findLast(({ toolCallId }) => toolCallId === id);
		const byId = new Map(calls.map((call) => [call.toolCallId, call]));
		return (id) => byId.get(id);
	}
	return () => undefined;
}

function resultOutput(entry: ToolResult, version: SpecificationVersion): ResultOutput {
	const { metadata } = entry;
	const output = valueOutput(entry, version);
	return metadata === undefined ? output : { ...output, providerOptions: metadata };
}

function valueOutput(entry: ToolResult, version: SpecificationVersion): ResultOutput {
	const { result, isError, denied } = entry;
	// Version 2 does not support denials.
	if (denied === true && version !== "v2")
		return {
			type: "execution-denied",
			...(typeof result === "string" && result !== "" ? { reason: result } : {}),
		};
	if (typeof result === "string") return { type: isError ? "error-text" : "text", value: result };
	if (result === undefined) return { type: isError ? "error-text" : "text", value: "" };
	if (Array.isArray(result) && result.every(isContentBlock) && result.some(isMoreThanText)) {
		const value = result
			.filter(isSaid)
			.map((block) => (isFile(block) ? resultFilePart(block, version) : contentPart(block, version)));
		return { type: "content", value };
	}
	return jsonOutput(result, isError ? "error-" : "");
}

// The model reads plain JSON: times as text, binary data as base64. A value that cannot be represented must not end the
// conversation.
function jsonOutput(result: unknown, prefix: "error-" | ""): ResultOutput {
	try {
		const text = JSON.stringify(result, readable);
		if (text !== undefined) return { type: `${prefix}json`, value: JSON.parse(text) };
		return { type: `${prefix}text`, value: "" };
	} catch (error) {
		return { type: `${prefix}text`, value: `The result cannot be shown: ${(error as Error).message}` };
	}
}

function readable(this: unknown, key: string, value: unknown): unknown {
	// A Buffer has already become an object of numbers when it arrives as `value`.
	const live = (this as Record<string, unknown>)[key];
	if (live instanceof Uint8Array) return bytesToBase64(live);
	return typeof value === "bigint" ? String(value) : value;
}

/** A list with only text is treated like any other result, unless it has options for the provider. */
function isMoreThanText(block: ContentBlock): boolean {
	return isFile(block) || block.metadata !== undefined;
}

function isFile(value: unknown): value is FileBlock {
	return isContentBlock(value) && value.type !== "text" && value.type !== "reasoning";
}
