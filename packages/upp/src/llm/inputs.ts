// What a caller may give to `generate` and `stream`, sorted into history and new messages.

import { HoldfastError } from "../errors/index.ts";
import {
	type ContentBlock,
	isContentBlock,
	isMessage,
	type Message,
	type UserContent,
	UserMessage,
} from "../messages/index.ts";
import type { Thread } from "../thread/index.ts";
import type { LLMHistory, LLMInput } from "./llm-types.ts";

/** A conversation so far, and what is new in it. */
export interface Conversation {
	history: readonly Message[];
	inputs: Message[];
}

/**
 * Sorts what was given. Adjacent text and blocks become one user message.
 * @throws HoldfastError `invalid_input` for anything that is no history and no input.
 */
export function readInputs(historyOrInput: LLMHistory | LLMInput, rest: readonly LLMInput[]): Conversation {
	if (Array.isArray(historyOrInput)) return { history: historyOrInput, inputs: toMessages(rest) };
	if (isThread(historyOrInput)) return { history: historyOrInput.toMessages(), inputs: toMessages(rest) };
	return { history: [], inputs: toMessages([historyOrInput as LLMInput, ...rest]) };
}

function toMessages(inputs: readonly LLMInput[]): Message[] {
	const messages: Message[] = [];
	let blocks: UserContent[] = [];
	const close = (): void => {
		if (blocks.length > 0) messages.push(new UserMessage(blocks));
		blocks = [];
	};
	for (const input of inputs) {
		if (isMessage(input)) {
			close();
			messages.push(input);
		} else blocks.push(toBlock(input as string | ContentBlock));
	}
	close();
	return messages;
}

function toBlock(input: string | ContentBlock): UserContent {
	if (typeof input === "string") return { type: "text", text: input };
	if (isContentBlock(input) && input.type !== "reasoning") return input;
	throw new HoldfastError(
		"invalid_input",
		"An input is neither text, a message nor a content block a user may send. Give a string, a Message or a ContentBlock.",
	);
}

function isThread(value: unknown): value is Thread {
	return (
		typeof value === "object" && value !== null && typeof (value as Partial<Thread>).toMessages === "function"
	);
}
