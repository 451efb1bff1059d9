// Validates a model's answer before it is used: a validated answer can be stored and read back. Visits each member of the
// answer once.

import { UPPError } from "../errors/index.ts";
import { AssistantMessage, asMessage, isPlainRecord, storable, type ToolCall } from "../messages/index.ts";
import { readStopReason, type StopReason, type TokenUsage } from "../turn/index.ts";
import { readCalls } from "./check-calls.ts";
import { checkBlock } from "./check-content.ts";
import { Fault } from "./fault.ts";
import type { LLMResponse } from "./model-port.ts";

/**
 * Returns the answer if it is valid. Drops members that the port does not define.
 * @throws UPPError INVALID_RESPONSE
 */
export function checkResponse(given: unknown, provider: string): LLMResponse {
	try {
		return readResponse(given);
	} catch (thrown) {
		if (thrown instanceof Fault) throw invalidResponse(provider, thrown.message);
		throw invalidResponse(provider, "it cannot be read", thrown);
	}
}

/** Creates the error for a provider whose model violated the port. */
export function invalidResponse(provider: string, what: string, cause?: unknown): UPPError {
	const message = `The answer of the provider "${provider}" cannot be used: ${what}. None of it was stored; correct the provider.`;
	return new UPPError(message, "INVALID_RESPONSE", provider, "llm", undefined, cause);
}

function readResponse(given: unknown): LLMResponse {
	if (typeof given !== "object" || given === null) throw new Fault("it", "an object");
	const { message, usage, stopReason: reason, data } = given as Partial<LLMResponse>;
	checkUsage(usage);
	const stopReason = readStopReason(reason);
	if (stopReason === undefined)
		throw new Fault("`stopReason`", "stop, length, tool_calls, content_filter, error or other");
	const response: LLMResponse = {
		message: withoutHalfCalls(readMessage(message), stopReason),
		usage,
		stopReason,
	};
	if (data !== undefined) {
		if (storable(data) !== "yes") throw new Fault("`data`", "plain data");
		response.data = data;
	}
	return response;
}

function readMessage(given: unknown): AssistantMessage {
	const message = asMessage(given);
	if (message?.type !== "assistant") throw new Fault("`message`", "an AssistantMessage");
	const { id, timestamp, metadata, content, toolCalls } = message;
	if (typeof id !== "string") throw new Fault("`message.id`", "a text");
	if (!(timestamp instanceof Date) || Number.isNaN(timestamp.getTime()))
		throw new Fault("`message.timestamp`", "a time");
	if (metadata !== undefined && (!isPlainRecord(metadata) || storable(metadata) !== "yes"))
		throw new Fault("`message.metadata`", "an object of plain data");
	if (!Array.isArray(content)) throw new Fault("`message.content`", "a list");
	for (let index = 0; index < content.length; index++) checkBlock(content[index], index);
	const calls = toolCalls === undefined ? undefined : readCalls(toolCalls);
	if (calls === toolCalls && message instanceof AssistantMessage) return message;
	// Rebuilt with this package's class if a call had to be changed.
	return new AssistantMessage(content, calls, {
		id,
		timestamp,
		...(metadata === undefined ? {} : { metadata }),
	});
}

/**
 * If the answer was cut off, empty arguments may be incomplete, so such a call is marked as unreadable and never runs.
 * Arguments with members were parsed up to their closing brace.
 */
function withoutHalfCalls(message: AssistantMessage, stopReason: StopReason): AssistantMessage {
	const { toolCalls, id, timestamp, metadata, content } = message;
	if (toolCalls === undefined || (stopReason !== "length" && stopReason !== "error")) return message;
	const isHalf = (call: ToolCall): boolean =>
		call.invalidArguments === undefined && Object.keys(call.arguments).length === 0;
	if (!toolCalls.some(isHalf)) return message;
	const calls = toolCalls.map((call) => (isHalf(call) ? { ...call, invalidArguments: "" } : call));
	return new AssistantMessage(content, calls, {
		id,
		timestamp,
		...(metadata === undefined ? {} : { metadata }),
	});
}

function checkUsage(usage: unknown): asserts usage is TokenUsage {
	if (!isPlainRecord(usage)) throw new Fault("`usage`", "an object");
	const { inputTokens, outputTokens, totalTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } =
		usage;
	checkCount(inputTokens, "inputTokens");
	checkCount(outputTokens, "outputTokens");
	checkCount(totalTokens, "totalTokens");
	if (cacheReadTokens !== undefined) checkCount(cacheReadTokens, "cacheReadTokens");
	if (cacheWriteTokens !== undefined) checkCount(cacheWriteTokens, "cacheWriteTokens");
	if (reasoningTokens !== undefined) checkCount(reasoningTokens, "reasoningTokens");
	for (const name in usage) {
		const value = usage[name];
		if (typeof value !== "number" && storable(value) !== "yes")
			throw new Fault(`\`usage.${name}\``, "plain data");
	}
}

function checkCount(count: unknown, name: keyof TokenUsage): void {
	if (typeof count !== "number" || !(count >= 0 && count < Number.POSITIVE_INFINITY))
		throw new Fault(`\`usage.${name}\``, "a number of tokens");
}
