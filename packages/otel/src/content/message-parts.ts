// Messages in the form of the GenAI conventions: a role and parts. Bytes are replaced by their kind and size.
import type { AssistantMessage, ContentBlock, Message, UserMessage } from "@holdfast/upp";

/** A part of a message. */
export type MessagePart = { readonly type: string } & Readonly<Record<string, unknown>>;

interface SaidMessage {
	readonly role: string;
	readonly parts: readonly MessagePart[];
	readonly finish_reason?: string;
}

/** Converts a message of a user, a model or tools. */
export function messageParts(message: Message, finishReason?: string): SaidMessage {
	const { content = [], toolCalls = [] } = message as Partial<
		AssistantMessage & Pick<UserMessage, "content">
	>;
	const calls = toolCalls.map(({ toolCallId, toolName, arguments: given }) => ({
		type: "tool_call",
		id: toolCallId,
		name: toolName,
		arguments: given,
	}));
	return {
		role: message.type,
		parts: [...content.map(partOf), ...calls],
		...(finishReason === undefined ? {} : { finish_reason: finishReason }),
	};
}

function partOf(block: ContentBlock): MessagePart {
	switch (block.type) {
		case "text":
			return { type: "text", content: block.text };
		case "reasoning":
			return { type: "reasoning", content: block.text };
		default:
			return { type: block.type, content: "[not shown]" };
	}
}
