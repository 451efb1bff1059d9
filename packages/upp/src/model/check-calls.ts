// Validates the tool calls of a model's answer.

import { deepest, isPlainRecord, storable, type ToolCall } from "../messages/index.ts";
import { Fault } from "./fault.ts";

/**
 * The maximum number of calls in one answer: the cost of a round grows faster than their number, and no provider makes
 * nearly as many.
 */
export const mostCalls = 1_000;

/** Returns the calls unchanged, or with arguments that are nested too deeply marked as unreadable. */
export function readCalls(calls: readonly ToolCall[]): readonly ToolCall[] {
	if (!Array.isArray(calls)) throw new Fault("`message.toolCalls`", "a list");
	if (calls.length > mostCalls)
		throw new Fault("`message.toolCalls`", `a list of at most ${mostCalls} calls`);
	let tooDeep = false;
	for (let index = 0; index < calls.length; index++) {
		if (checkCall(calls[index], index) === "deep") tooDeep = true;
	}
	return tooDeep ? calls.map(withReadableArguments) : calls;
}

function checkCall(call: unknown, index: number): "yes" | "deep" {
	if (!isPlainRecord(call)) throw fault(index, "", "an object");
	const { toolCallId, toolName, arguments: given } = call;
	if (typeof toolCallId !== "string") throw fault(index, ".toolCallId", "a text");
	if (typeof toolName !== "string") throw fault(index, ".toolName", "a text");
	if (!isPlainRecord(given)) throw fault(index, ".arguments", "an object");
	for (const name in call) {
		if (name !== "toolCallId" && name !== "toolName" && name !== "arguments") checkMember(call, name, index);
	}
	const found = storable(given);
	if (found === "no") throw fault(index, ".arguments", "plain data");
	return found;
}

/** Checks optional, rarely used members of a call. */
function checkMember(call: Record<string, unknown>, name: string, index: number): void {
	const value = call[name];
	if (value === undefined) return;
	if (name === "after" && !isListOfTexts(value)) throw fault(index, ".after", "a list of ids");
	if (name === "invalidArguments" && typeof value !== "string")
		throw fault(index, ".invalidArguments", "a text");
	if (name === "metadata" && !isPlainRecord(value)) throw fault(index, ".metadata", "an object");
	if (storable(value) !== "yes") throw fault(index, `.${name}`, "plain data");
}

/** Excessive nesting is the model's mistake: the result of the call reports it. */
function withReadableArguments(call: ToolCall): ToolCall {
	if (storable(call.arguments) === "yes") return call;
	return { ...call, arguments: {}, invalidArguments: `they are nested more than ${deepest} levels deep` };
}

function isListOfTexts(value: unknown): boolean {
	return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function fault(index: number, member: string, expected: string): Fault {
	return new Fault(`\`message.toolCalls.${index}${member}\``, expected);
}
