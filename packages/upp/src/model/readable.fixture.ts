// What must hold for every accepted answer of a model.
import { expect } from "vitest";
import {
	type AssistantMessage,
	decodeValue,
	encodeValue,
	type JSONValue,
	messageFromJSON,
	messageToJSON,
} from "../messages/index.ts";
import type { LLMResponse } from "./model-port.ts";

/** Fails for an answer that could be committed but not read back. */
export function expectReadable(response: LLMResponse): void {
	const { message, usage, data, stopReason } = response;
	const written = messageToJSON(message);
	const read = messageFromJSON(JSON.parse(JSON.stringify(written))) as AssistantMessage;
	expect(messageToJSON(read)).toEqual(written);
	expect(read.hasToolCalls).toBe(message.hasToolCalls);
	expect(typeof message.text).toBe("string");
	const { inputTokens, outputTokens, totalTokens } = JSON.parse(JSON.stringify(usage));
	expect([inputTokens, outputTokens, totalTokens]).toEqual([
		// JSON has no negative zero; both count no tokens.
		usage.inputTokens + 0,
		usage.outputTokens + 0,
		usage.totalTokens + 0,
	]);
	for (const count of [inputTokens, outputTokens, totalTokens]) expect(count).toBeTypeOf("number");
	expect(stopReason).toBeTypeOf("string");
	const kept = encodeValue(data);
	expect(encodeValue(decodeValue(JSON.parse(JSON.stringify(kept)) as JSONValue))).toEqual(kept);
}
