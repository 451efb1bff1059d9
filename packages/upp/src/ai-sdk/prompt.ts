// Messages as the AI SDK's prompt. A conversation that grew since its last call keeps what was converted for it: the
// new messages are converted, the others compared and copied, a pointer each (keeps I5).

import type { Message } from "../messages/index.ts";
import type { SpecificationVersion } from "./file-parts.ts";
import type { PromptMessage } from "./language-model-types.ts";
import { isWhole, promptMessage } from "./prompt-message.ts";

/** The messages of the last call, and each of them converted. */
interface Conversation {
	readonly messages: Message[];
	readonly converted: PromptMessage[];
	/** How many of them providers would refuse. */
	empty: number;
}

interface Cache {
	/**
	 * By first message. Kept from the second call on: a window that moves along a history begins with another message
	 * each time and would keep one for each.
	 */
	readonly conversations: WeakMap<Message, Conversation | "seen once">;
	/** Messages of conversations that did not merely grow. */
	readonly messages: WeakMap<Message, PromptMessage>;
}

// What is converted differs between the versions of the AI SDK.
const caches: Readonly<Record<SpecificationVersion, Cache>> = {
	v2: newCache(),
	v3: newCache(),
	v4: newCache(),
};

/** The prompt for a conversation, as an array of the caller's own. */
export function toPrompt(
	messages: readonly Message[],
	system: string | undefined,
	version: SpecificationVersion,
): PromptMessage[] {
	const { converted, empty } = convert(messages, version);
	const prompt = empty === 0 ? converted.slice() : converted.filter((each) => !isEmpty(each));
	if (system !== undefined && system !== "") prompt.unshift({ role: "system", content: system });
	return prompt;
}

function convert(messages: readonly Message[], version: SpecificationVersion): Conversation {
	const cache = caches[version];
	const [first] = messages;
	const known = first === undefined ? undefined : cache.conversations.get(first);
	if (first === undefined || known === undefined) {
		if (first !== undefined) cache.conversations.set(first, "seen once");
		return extend({ messages: [], converted: [], empty: 0 }, messages, version, cache.messages);
	}
	if (known === "seen once") {
		const conversation: Conversation = { messages: [], converted: [], empty: 0 };
		cache.conversations.set(first, conversation);
		return extend(conversation, messages, version, cache.messages);
	}
	const same = sameFromStart(known.messages, messages);
	if (same === known.messages.length) return extend(known, messages, version, undefined);
	known.messages.length = same;
	known.converted.length = same;
	if (known.empty > 0) known.empty = known.converted.filter(isEmpty).length;
	return extend(known, messages, version, cache.messages);
}

function sameFromStart(before: readonly Message[], now: readonly Message[]): number {
	const shorter = Math.min(before.length, now.length);
	let same = 0;
	while (same < shorter && before[same] === now[same]) same++;
	return same;
}

/** Adds to a conversation the messages that it does not have. */
function extend(
	conversation: Conversation,
	messages: readonly Message[],
	version: SpecificationVersion,
	remembered: WeakMap<Message, PromptMessage> | undefined,
): Conversation {
	for (let index = conversation.messages.length; index < messages.length; index++) {
		const message = messages[index] as Message;
		let converted = remembered?.get(message);
		if (converted === undefined) {
			converted = promptMessage(messages, index, version);
			if (remembered !== undefined && isWhole(converted)) remembered.set(message, converted);
		}
		conversation.messages.push(message);
		conversation.converted.push(converted);
		if (isEmpty(converted)) conversation.empty++;
	}
	return conversation;
}

/** Providers refuse an answer of which nothing was said, as a refused one is. */
function isEmpty({ role, content }: PromptMessage): boolean {
	return role === "assistant" && content.length === 0;
}

function newCache(): Cache {
	return { conversations: new WeakMap(), messages: new WeakMap() };
}
