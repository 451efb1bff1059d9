// Converts a history to text for a model: the messages with their authors, the tool calls, and their results. Media are
// only named.
import {
	type ContentBlock,
	isAssistantMessage,
	isToolResultMessage,
	isUserMessage,
	type Message,
} from "@holdfast/upp";

/** Returns the messages as text, one after the other. */
export function transcript(messages: readonly Message[]): string {
	const toolNames = new Map<string, string>();
	return messages.flatMap((message) => linesOf(message, toolNames)).join("\n");
}

function linesOf(message: Message, toolNames: Map<string, string>): readonly string[] {
	if (isUserMessage(message)) return [`user: ${said(message.content)}`];
	if (isToolResultMessage(message)) {
		return message.results.map(({ toolCallId, result, isError }) => {
			const name = toolNames.get(toolCallId) ?? toolCallId;
			return `${isError === true ? "error" : "result"} of ${name}: ${written(result)}`;
		});
	}
	if (!isAssistantMessage(message)) return [];
	const text = said(message.content);
	const calls = (message.toolCalls ?? []).map((call) => {
		toolNames.set(call.toolCallId, call.toolName);
		return `assistant calls ${call.toolName}: ${written(call.arguments)}`;
	});
	return text === "" ? calls : [`assistant: ${text}`, ...calls];
}

function said(content: readonly ContentBlock[]): string {
	return content
		.filter(({ type }) => type !== "reasoning")
		.map((block) => (block.type === "text" ? block.text : `[${block.type}]`))
		.join("\n");
}

/** Binary data would fill the text with numbers. */
function written(value: unknown): string {
	if (typeof value === "string") return value;
	const text = JSON.stringify(value, (_, member) => {
		if (ArrayBuffer.isView(member)) return `[${member.byteLength} bytes]`;
		return typeof member === "bigint" ? String(member) : member;
	});
	return text ?? String(value);
}
