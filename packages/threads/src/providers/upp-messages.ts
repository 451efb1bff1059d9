// Converts messages of the model layer to the form that a project provider receives.
import type { AnyMessage, ContentBlock, MediaSource, Message, ToolCall } from "@holdfast/upp";
import type {
	ContentPart,
	ProviderAssistantMessage,
	ProviderMessage,
	ProviderReasoningDetail,
	ProviderToolCallPart,
} from "../types/index.ts";
import { providerKey } from "./ask-provider.ts";

/** Converts the messages, each once its kind is known; a message of results becomes one message per result. */
export function providerMessages(messages: readonly Message[]): ProviderMessage[] {
	const names = new Map<string, string>();
	return (messages as readonly AnyMessage[]).flatMap((message): ProviderMessage[] => {
		switch (message.type) {
			case "user":
				return [{ role: "user", content: contentOf(message.content) }];
			case "assistant": {
				for (const { toolCallId, toolName } of message.toolCalls ?? []) names.set(toolCallId, toolName);
				return [assistantMessage(message.content, message.toolCalls)];
			}
			default:
				return message.results.map(({ toolCallId, result, isError }) => {
					const text = typeof result === "string" ? result : (JSON.stringify(result) ?? "");
					return {
						role: "tool",
						toolCallId,
						toolName: names.get(toolCallId) ?? "",
						content: isError === true ? { type: "error", error: text } : text,
					};
				});
		}
	});
}

/** Returns the model's message, with the data that its provider needs back. */
export function assistantMessage(
	content: readonly ContentBlock[],
	calls: readonly ToolCall[] | undefined,
): ProviderAssistantMessage {
	const said: ProviderAssistantMessage = { role: "assistant", content: null };
	const reasoning = content.filter((block) => block.type === "reasoning");
	if (reasoning.length > 0) {
		said.reasoning = reasoning.map(({ text }) => text).join("");
		const details = reasoning.flatMap(({ metadata }) => {
			const kept = metadata?.[providerKey]?.reasoningDetails;
			return Array.isArray(kept) ? (kept as ProviderReasoningDetail[]) : [];
		});
		if (details.length > 0) said.reasoningDetails = details;
	}
	const rest = content.filter((block) => block.type !== "reasoning");
	if (rest.length > 0) said.content = contentOf(rest);
	if (calls !== undefined && calls.length > 0) said.toolCalls = calls.map(callPart);
	return said;
}

/** Returns a call with the data that its provider needs back. */
function callPart({
	toolCallId: id,
	toolName: name,
	arguments: given,
	metadata,
}: ToolCall): ProviderToolCallPart {
	const extraContent = metadata?.[providerKey]?.extraContent as Record<string, unknown> | undefined;
	return { id, name, arguments: given, ...(extraContent === undefined ? {} : { extraContent }) };
}

function contentOf(content: readonly ContentBlock[]): string | ContentPart[] {
	const only = content[0];
	if (content.length === 1 && only?.type === "text") return only.text;
	return content.flatMap((block): ContentPart[] => {
		switch (block.type) {
			case "text":
				return [{ type: "text", text: block.text }];
			case "image":
				return block.source.type === "url"
					? [{ type: "image_url", image_url: { url: block.source.url } }]
					: [{ type: "image", data: base64Of(block.source), mediaType: block.mimeType }];
			case "document":
				if (block.source.type === "text") return [{ type: "text", text: block.source.data }];
				if (block.source.type !== "base64" && block.source.type !== "bytes") return [];
				return [
					{
						type: "file",
						data: base64Of(block.source),
						mediaType: block.mimeType,
						...(block.title === undefined ? {} : { filename: block.title }),
					},
				];
			default:
				return [];
		}
	});
}

function base64Of(source: Extract<MediaSource, { type: "base64" | "bytes" }>): string {
	if (source.type === "base64") return source.data;
	let text = "";
	for (const byte of source.data) text += String.fromCharCode(byte);
	return btoa(text);
}
