// Runs a call and returns its answer. Errors of the tool become answers too.

import type { PendingToolCall, ToolAnswer } from "../wire/index.ts";
import type { ClientTool, ClientToolContext } from "./client-tool.ts";

/** Runs a tool for a call. Never rejects. */
export async function runCall(
	tool: ClientTool,
	call: PendingToolCall,
	context: ClientToolContext,
): Promise<ToolAnswer> {
	try {
		const isExecute = typeof tool.execute === "function";
		const started = isExecute
			? tool.execute?.(call.id, call.arguments, context)
			: tool.run?.(call.arguments, context);
		const value = await started;
		const { output, details } = isAsyncIterable(value) ? await drain(value) : outcomeOf(value, isExecute);
		return {
			role: "tool",
			toolCallId: call.id,
			output: textOf(output),
			...(details === undefined ? {} : { details: plainDetails(details) }),
		};
	} catch (error) {
		return failedCall(call, messageOf(error));
	}
}

/** Returns the answer to a call that did not run. */
export function failedCall(call: PendingToolCall, why: string): ToolAnswer {
	return { role: "tool", toolCallId: call.id, output: why, isError: true };
}

interface Outcome {
	readonly output: unknown;
	readonly details?: unknown;
}

async function drain(events: AsyncIterable<unknown>): Promise<Outcome> {
	let text = "";
	for await (const event of events) {
		if (typeof event === "string") text += event;
		else if (isTyped(event, "delta") && "delta" in event) text += String(event.delta);
		else if (isTyped(event, "complete")) return event as unknown as Outcome;
	}
	return { output: text };
}

// A tool with `execute` returns `{ output, details? }`; for `run`, an object with an `output` is a result like any other.
function outcomeOf(value: unknown, isExecute: boolean): Outcome {
	if (!isExecute || typeof value !== "object" || value === null || !("output" in value))
		return { output: value };
	return value as Outcome;
}

function textOf(output: unknown): string {
	if (typeof output === "string") return output;
	if (output === undefined) return "";
	return JSON.stringify(output) ?? String(output);
}

/** Returns the details as JSON; a marker if they cannot be converted. They must not cause the result to be lost. */
function plainDetails(details: unknown): unknown {
	try {
		return JSON.parse(JSON.stringify(details));
	} catch (error) {
		return { unserialisable: messageOf(error).split("\n", 1)[0] };
	}
}

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
	try {
		if (error instanceof Error) return error.message === "" ? error.name : error.message;
		return error === undefined ? "The tool failed without a reason." : textOf(error);
	} catch {
		return "The tool failed with an unreadable error.";
	}
}

function isTyped(value: unknown, type: string): value is object {
	return typeof value === "object" && value !== null && (value as { type?: unknown }).type === type;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
	return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
