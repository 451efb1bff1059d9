// Sorts the arguments of `generate` and `stream` into history and new messages.

import { HoldfastError } from "../errors/index.ts";
import {
	asMessage,
	asMessages,
	type ContentBlock,
	insteadOf,
	isContentBlock,
	type Message,
	type UserContent,
	UserMessage,
} from "../messages/index.ts";
import type { Thread } from "../thread/index.ts";
import type { LLMHistory, LLMInput } from "./llm-types.ts";

/** A conversation so far, and its new messages. */
export interface Conversation {
	history: readonly Message[];
	inputs: Message[];
}

/**
 * Sorts the given arguments. Adjacent text and blocks become one user message.
 * @throws HoldfastError `invalid_input` for anything that is neither a history nor an input.
 */
export function readInputs(historyOrInput: LLMHistory | LLMInput, rest: readonly LLMInput[]): Conversation {
	if (Array.isArray(historyOrInput))
		return { history: readHistory(historyOrInput), inputs: toMessages(rest) };
	if (isThread(historyOrInput))
		return { history: readHistory(historyOrInput.toMessages()), inputs: toMessages(rest) };
	return { history: [], inputs: toMessages([historyOrInput as LLMInput, ...rest]) };
}

function readHistory(given: readonly unknown[]): readonly Message[] {
	const history = asMessages(given);
	if (history !== undefined) return history;
	const at = given.findIndex((each) => asMessage(each) === undefined);
	throw new HoldfastError(
		"invalid_input",
		`Item ${at} of the history is not a message. ${insteadOf(given[at])}`,
	);
}

function toMessages(inputs: readonly LLMInput[]): Message[] {
	const messages: Message[] = [];
	let blocks: UserContent[] = [];
	const close = (): void => {
		if (blocks.length > 0) messages.push(new UserMessage(blocks));
		blocks = [];
	};
	for (const input of inputs) {
		const message = typeof input === "string" ? undefined : asMessage(input);
		if (message !== undefined) {
			close();
			messages.push(message);
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
		`An input is neither text, a message nor a content block of a user. ${insteadOf(input)} A string or a ContentBlock is also accepted.`,
	);
}

function isThread(value: unknown): value is Thread {
	return (
		typeof value === "object" && value !== null && typeof (value as Partial<Thread>).toMessages === "function"
	);
}
