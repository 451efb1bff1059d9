// Reads the output of a model function into messages: answers, and the results of their calls. Rejects an unreadable
// output as a whole.
import {
	type AssistantContent,
	AssistantMessage,
	HoldfastError,
	type ToolCall,
	type ToolResult,
} from "@holdfast/upp";
import { plainJson } from "../tools/index.ts";
import type { ModelMessage, ModelMessagePart } from "./model-messages.ts";

/** The maximum number of calls in one answer, the same as for providers. */
const mostCalls = 1_000;

/** An answer, and a result for each of its calls. */
export interface ReadAnswer {
	readonly message: AssistantMessage;
	readonly results: readonly ToolResult[];
}

/**
 * Reads an output. A call without a result gets one that reports this.
 * @throws HoldfastError `invalid_model_output`.
 */
export function readModelOutput(output: unknown): readonly ReadAnswer[] {
	if (!Array.isArray(output)) throw invalid(`It returned ${describe(output)} instead of a list of messages.`);
	const answers: { message: AssistantMessage; results: Map<string, ToolResult | undefined> }[] = [];
	for (const given of output as readonly (Partial<ModelMessage> | null | undefined)[]) {
		const role: unknown = given?.role;
		if (role === "assistant") {
			const message = readAssistant(partsOf(given));
			const called = (message.toolCalls ?? []).map(({ toolCallId }) => [toolCallId, undefined] as const);
			answers.push({ message, results: new Map(called) });
		} else if (role === "tool") {
			const open = answers.at(-1);
			for (const part of partsOf(given)) {
				const result = readResult(part);
				if (open?.results.has(result.toolCallId) !== true)
					throw invalid(
						`It returned a result for "${result.toolCallId}", which the previous answer did not call.`,
					);
				open.results.set(result.toolCallId, result);
			}
		} else {
			throw invalid(`It returned a message with the role ${JSON.stringify(role)}.`);
		}
	}
	if (answers.length === 0) throw invalid("It returned no message.");
	return answers.map(({ message, results }) => ({
		message,
		results: (message.toolCalls ?? []).map(
			({ toolCallId }) => results.get(toolCallId) ?? { toolCallId, result: withoutResult, isError: true },
		),
	}));
}

/** The result of a call for which the function returned none, because a history must contain one. */
const withoutResult = "The model function returned no result for this call.";

function partsOf(message: Partial<ModelMessage> | null | undefined): readonly ModelMessagePart[] {
	const content: unknown = message?.content;
	if (typeof content === "string") return [{ type: "text", text: content }];
	if (!Array.isArray(content)) throw invalid(`The content of a message is ${describe(content)}.`);
	for (const part of content) {
		if (typeof part !== "object" || part === null) throw invalid(`A part of a message is ${describe(part)}.`);
	}
	return content;
}

function readAssistant(parts: readonly ModelMessagePart[]): AssistantMessage {
	const content: AssistantContent[] = [];
	const calls: ToolCall[] = [];
	const ids = new Set<string>();
	for (const part of parts) {
		if (part.type === "tool-call") calls.push(readCall(part, ids));
		else content.push(readContent(part));
	}
	if (calls.length > mostCalls) throw invalid(`An assistant message has more than ${mostCalls} tool calls.`);
	return new AssistantMessage(content, calls.length === 0 ? undefined : calls);
}

function readContent(part: ModelMessagePart): AssistantContent {
	if (part.type === "text" || part.type === "reasoning") {
		if (typeof part.text !== "string") throw invalid(`The text of a part is ${describe(part.text)}.`);
		const metadata = part.providerOptions as AssistantContent["metadata"];
		const kept = metadata === undefined ? {} : { metadata: copied(metadata) as Record<string, never> };
		return { type: part.type, text: part.text, ...kept };
	}
	if (part.type === "file" && part.data instanceof Uint8Array && typeof part.mediaType === "string")
		return { type: "binary", data: part.data.slice(), mimeType: part.mediaType };
	throw invalid(
		`An assistant message has a part of the type ${JSON.stringify(part.type)} that cannot be read.`,
	);
}

function readCall(
	{ toolCallId, toolName, input = {}, providerOptions }: ModelMessagePart,
	before: Set<string>,
): ToolCall {
	if (typeof toolCallId !== "string" || toolCallId === "" || typeof toolName !== "string" || toolName === "")
		throw invalid("A tool call has no `toolCallId` or no `toolName`.");
	if (before.has(toolCallId)) throw invalid(`Two tool calls of one message have the id "${toolCallId}".`);
	before.add(toolCallId);
	if (typeof input !== "object" || input === null || Array.isArray(input))
		throw invalid(`The input of the tool call "${toolCallId}" is ${describe(input)}, not an object.`);
	const call: ToolCall = { toolCallId, toolName, arguments: copied(input) as Record<string, unknown> };
	if (providerOptions !== undefined) call.metadata = copied(providerOptions) as Record<string, never>;
	return call;
}

function readResult({ type, toolCallId, output }: ModelMessagePart): ToolResult {
	if (type !== "tool-result" || typeof toolCallId !== "string")
		throw invalid("A tool message has a part that is not a tool result with a `toolCallId`.");
	const { type: kind, value } = (output ?? {}) as { type?: unknown; value?: unknown };
	switch (kind) {
		case "text":
		case "json":
		case "content":
			return { toolCallId, result: copied(value) };
		case "error-text":
		case "error-json":
			return { toolCallId, result: copied(value), isError: true };
		default:
			return { toolCallId, result: copied(output) };
	}
}

/** Returns a plain copy that the function holds no reference to. */
function copied(value: unknown): unknown {
	try {
		return structuredClone(plainJson(value));
	} catch (cause) {
		throw invalid("A value in it cannot be written as JSON.", cause);
	}
}

function describe(value: unknown): string {
	if (value === undefined || value === null) return String(value);
	if (Array.isArray(value)) return "a list";
	return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function invalid(what: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"invalid_model_output",
		`The model function's output cannot be used. ${what} Return a list of assistant messages and, after those with tool calls, tool messages with the results.`,
		cause === undefined ? {} : { cause },
	);
}
