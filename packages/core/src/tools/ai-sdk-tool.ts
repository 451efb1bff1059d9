// What the AI SDK's tools expect beyond arguments: options under its names, messages in its shape, its question
// about approval, and `toModelOutput`, by which a tool says what the model sees of its output.

import { type AnyMessage, type ContentBlock, isMessage } from "@holdfast/upp";
import { plainDetails, plainJson } from "./plain-json.ts";
import type { EngineTool, ToolContext, ToolOutcome } from "./types.ts";

/** The second argument of the AI SDK's `execute`. `context` is Holdfast's own, for those who want the rest. */
export function aiSdkOptions(context: ToolContext): object {
	return {
		toolCallId: context.toolCallId,
		abortSignal: context.signal,
		get messages() {
			return toModelMessages(context.messages);
		},
		context,
		experimental_context: context,
	};
}

/** An outcome as `toModelOutput` wants the model to see it; watchers get the tool's own output as details. */
export async function aiSdkOutcome(
	toModelOutput: NonNullable<EngineTool["toModelOutput"]>,
	call: { readonly toolCallId: string; readonly input: unknown },
	outcome: ToolOutcome,
): Promise<ToolOutcome> {
	const shown = (await toModelOutput({ ...call, output: outcome.output })) as ModelOutput;
	const isError = shown.type.startsWith("error") || shown.type === "execution-denied";
	return { output: plainJson(outputOf(shown)), details: plainDetails(outcome.output), isError };
}

type ModelOutput =
	| { readonly type: "text" | "json" | "error-text" | "error-json"; readonly value: unknown }
	| { readonly type: "content"; readonly value: readonly { readonly type: string; readonly text?: string }[] }
	| { readonly type: "execution-denied"; readonly reason?: string };

function outputOf(shown: ModelOutput): unknown {
	if (shown.type === "execution-denied") return shown.reason ?? "The call was denied.";
	if (shown.type !== "content") return shown.value;
	const texts = shown.value.map((part) => (part.type === "text" ? part.text : undefined));
	return texts.includes(undefined) ? shown.value : texts.join("\n");
}

function toModelMessages(messages: readonly unknown[]): object[] {
	const toolNames = new Map<string, string>();
	return messages.filter(isMessage).map((message) => toModelMessage(message, toolNames));
}

function toModelMessage(message: AnyMessage, toolNames: Map<string, string>): object {
	switch (message.type) {
		case "user":
			return { role: "user", content: message.content.map(toPart) };
		case "assistant": {
			const calls = (message.toolCalls ?? []).map(({ toolCallId, toolName, arguments: input }) => {
				toolNames.set(toolCallId, toolName);
				return { type: "tool-call", toolCallId, toolName, input };
			});
			return { role: "assistant", content: [...message.content.map(toPart), ...calls] };
		}
		case "tool_result":
			return {
				role: "tool",
				content: message.results.map(({ toolCallId, result, isError }) => ({
					type: "tool-result",
					toolCallId,
					toolName: toolNames.get(toolCallId) ?? "",
					output: {
						type: `${isError === true ? "error-" : ""}${typeof result === "string" ? "text" : "json"}`,
						value: result,
					},
				})),
			};
	}
}

function toPart(block: ContentBlock): object {
	if (block.type === "text" || block.type === "reasoning") return { type: block.type, text: block.text };
	const { mimeType: mediaType } = block;
	if ("data" in block) return { type: "file", data: block.data, mediaType };
	const { source } = block;
	if (source.type === "text") return { type: "text", text: source.data };
	if (source.type === "reference") return { type: "file", data: source, mediaType };
	const data = source.type === "url" ? new URL(source.url) : source.data;
	return { type: "file", data, mediaType };
}
