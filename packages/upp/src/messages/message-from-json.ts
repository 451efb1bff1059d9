// Reads messages from JSON data. For invalid data, the error names the faulty member.

import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { type AssistantContent, isContentBlock, type ProviderMetadata, type UserContent } from "./content.ts";
import type { MessageJSON } from "./message.ts";
import {
	type AnyMessage,
	AssistantMessage,
	type MessageOptions,
	ToolResultMessage,
	UserMessage,
} from "./message.ts";
import type { ToolCall, ToolResult } from "./tool.ts";
import { base64ToBytes, decodeValue, type JSONValue } from "./value-codec.ts";

/**
 * Converts JSON data back to the original message.
 * @throws HoldfastError `invalid_message` with the path of the fault in `data.path`.
 */
export function messageFromJSON(json: MessageJSON): AnyMessage {
	if (!isRecord(json)) throw invalid("", "an object");
	const options = readOptions(json);
	switch (json.type) {
		case "user":
			return new UserMessage(readContent(json.content) as UserContent[], options);
		case "assistant": {
			const toolCalls = json.toolCalls === undefined ? undefined : readToolCalls(json.toolCalls);
			return new AssistantMessage(readContent(json.content) as AssistantContent[], toolCalls, options);
		}
		case "tool_result":
			return new ToolResultMessage(readResults(json.results), options);
		default:
			throw invalid("type", `"user", "assistant" or "tool_result"`);
	}
}

function readOptions(json: MessageJSON): MessageOptions {
	if (typeof json.id !== "string") throw invalid("id", "a string");
	const timestamp = new Date(typeof json.timestamp === "string" ? json.timestamp : Number.NaN);
	if (Number.isNaN(timestamp.getTime())) throw invalid("timestamp", "an ISO 8601 time");
	const options: MessageOptions = { id: json.id, timestamp };
	if (json.metadata !== undefined) {
		if (!isRecord(json.metadata)) throw invalid("metadata", "an object");
		options.metadata = read(json.metadata, "metadata") as ProviderMetadata;
	}
	return options;
}

function readContent(content: unknown): unknown[] {
	const blocks = readList(content, "content", (block, path) => {
		if (!isContentBlock(block)) throw invalid(path, "a content block with a known type");
		if ((block.type === "text" || block.type === "reasoning") && typeof block.text !== "string") {
			throw invalid(`${path}.text`, "a string");
		}
	});
	return blocks.map((block, index) => withBytes(block as AssistantContent, `content.${index}`));
}

/** Other packages write bytes as plain base64, or as the JSON of a Uint8Array. */
function withBytes(block: AssistantContent, path: string): AssistantContent {
	switch (block.type) {
		case "audio":
		case "video":
		case "binary":
			return withData(block, path);
		case "image":
		case "document":
			if (!isRecord(block.source)) throw invalid(`${path}.source`, "an object");
			if (block.source.type !== "bytes") return block;
			return { ...block, source: withData(block.source, `${path}.source`) } as AssistantContent;
		default:
			return block;
	}
}

function withData<Holder extends { data: Uint8Array }>(holder: Holder, path: string): Holder {
	const data = readBytes(holder.data);
	if (data === undefined) throw invalid(`${path}.data`, "bytes, or base64");
	return data === holder.data ? holder : { ...holder, data };
}

function readBytes(data: unknown): Uint8Array | undefined {
	if (data instanceof Uint8Array) return data;
	if (typeof data === "string") {
		try {
			return base64ToBytes(data);
		} catch {
			return undefined;
		}
	}
	if (!isRecord(data)) return undefined;
	const entries = Object.entries(data);
	const areBytes = entries.every(([key, value], at) => key === String(at) && isByte(value));
	return areBytes ? Uint8Array.from(entries, ([, value]) => value as number) : undefined;
}

function isByte(value: unknown): boolean {
	return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255;
}

function readToolCalls(toolCalls: unknown): ToolCall[] {
	return readList(toolCalls, "toolCalls", (call, path) => {
		if (!isRecord(call)) throw invalid(path, "an object");
		if (typeof call.toolCallId !== "string") throw invalid(`${path}.toolCallId`, "a string");
		if (typeof call.toolName !== "string") throw invalid(`${path}.toolName`, "a string");
		if (!isRecord(call.arguments)) throw invalid(`${path}.arguments`, "an object");
	}) as ToolCall[];
}

function readResults(results: unknown): ToolResult[] {
	return readList(results, "results", (result, path) => {
		if (!isRecord(result)) throw invalid(path, "an object");
		if (typeof result.toolCallId !== "string") throw invalid(`${path}.toolCallId`, "a string");
	}) as ToolResult[];
}

function readList(list: unknown, path: string, check: (entry: unknown, path: string) => void): unknown[] {
	if (!Array.isArray(list)) throw invalid(path, "an array");
	const entries = read(list, path) as unknown[];
	entries.forEach((entry, index) => {
		check(entry, `${path}.${index}`);
	});
	return entries;
}

function read(value: unknown, path: string): unknown {
	try {
		return decodeValue(value as JSONValue);
	} catch (error) {
		throw isHoldfastError(error) ? invalid(path, "data as it was written", error) : error;
	}
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(path: string, expected: string, cause?: unknown): HoldfastError {
	const place = path === "" ? "the message" : `"${path}"`;
	return new HoldfastError("invalid_message", `Not a message: ${place} should be ${expected}.`, {
		data: { path },
		...(cause === undefined ? {} : { cause }),
	});
}
