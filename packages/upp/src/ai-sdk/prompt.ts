// Converts messages to the AI SDK's prompt. If a conversation has grown since its last call, its earlier conversions are
// reused: only new messages are converted; the others are compared and copied, one pointer each (keeps I5).

import type { Message } from "../messages/index.ts";
import { hasOwnBreakpoint as hasOwnPartBreakpoint, type System, type SystemPart } from "../model/index.ts";
import { wellFormed } from "../text/index.ts";
import { CallOrder } from "./call-order.ts";
import type { Dialect } from "./dialect.ts";
import type { PromptMessage } from "./language-model-types.ts";
import { hasBreakpoint, withCachedPart } from "./prompt-cache.ts";
import { isWhole, promptMessage } from "./prompt-message.ts";

/** The messages of the last call, and their conversions. */
interface Conversation {
	readonly messages: Message[];
	readonly converted: PromptMessage[];
	readonly prompt: PromptMessage[];
	order: CallOrder;
	/** Whether the caller has set a cache breakpoint on one of the messages. */
	hasBreakpoint: boolean;
}

interface Cache {
	/**
	 * By first message. Stored from the second call on: a window that moves along a history starts with a different
	 * message each time, and would add an entry for each.
	 */
	readonly conversations: WeakMap<Message, Conversation | "seen once">;
	/** Messages of conversations that changed other than by growing. */
	readonly messages: WeakMap<Message, PromptMessage>;
}

const caches = new WeakMap<Dialect, Cache>();

/** Returns the prompt for a conversation, as a separate array. */
export function toPrompt(
	messages: readonly Message[],
	system: System | undefined,
	dialect: Dialect,
): PromptMessage[] {
	const conversation = convert(messages, dialect);
	const prompt = conversation.prompt.slice();
	if (conversation.hasBreakpoint) withOwnBreakpoints.add(prompt);
	conversation.order.end(prompt);
	if (typeof system === "object") prependParts(prompt, system);
	else if (system !== undefined && system.trim() !== "")
		prompt.unshift({ role: "system", content: wellFormed(system) });
	return prompt;
}

function prependParts(prompt: PromptMessage[], system: readonly SystemPart[]): void {
	const parts = system.filter(({ text }) => text.trim() !== "");
	const messages = parts.map((part): PromptMessage => {
		const { text, providerOptions } = part;
		const message: PromptMessage = { role: "system", content: wellFormed(text) };
		if (providerOptions !== undefined) message.providerOptions = wellFormed(providerOptions);
		if (part.cache === true) withCachedPart.add(message);
		return message;
	});
	prompt.unshift(...messages);
	if (parts.some(hasOwnPartBreakpoint)) withOwnBreakpoints.add(prompt);
}

const withOwnBreakpoints = new WeakSet<readonly PromptMessage[]>();

/** Whether the caller has set a cache breakpoint in a prompt that `toPrompt` returned. */
export function hasOwnBreakpoint(prompt: readonly PromptMessage[]): boolean {
	return withOwnBreakpoints.has(prompt);
}

function convert(messages: readonly Message[], dialect: Dialect): Conversation {
	const cache = cacheOf(dialect);
	const [first] = messages;
	const known = first === undefined ? undefined : cache.conversations.get(first);
	if (first === undefined || known === undefined) {
		if (first !== undefined) cache.conversations.set(first, "seen once");
		return extend(newConversation(dialect), messages, dialect, cache.messages);
	}
	if (known === "seen once") {
		const conversation = newConversation(dialect);
		cache.conversations.set(first, conversation);
		return extend(conversation, messages, dialect, cache.messages);
	}
	const same = sameFromStart(known.messages, messages);
	if (same === known.messages.length) return extend(known, messages, dialect, undefined);
	known.messages.length = same;
	known.converted.length = same;
	orderAgain(known, dialect);
	return extend(known, messages, dialect, cache.messages);
}

function newConversation({ turns }: Dialect): Conversation {
	return { messages: [], converted: [], prompt: [], order: new CallOrder(turns), hasBreakpoint: false };
}

function sameFromStart(before: readonly Message[], now: readonly Message[]): number {
	const shorter = Math.min(before.length, now.length);
	let same = 0;
	while (same < shorter && before[same] === now[same]) same++;
	return same;
}

/** Returns the prompt of a conversation's remaining messages. */
function orderAgain(conversation: Conversation, { turns }: Dialect): void {
	const { converted, prompt } = conversation;
	conversation.order = new CallOrder(turns);
	prompt.length = 0;
	conversation.hasBreakpoint = converted.some(hasBreakpoint);
	for (const message of converted) conversation.order.add(message, prompt);
}

/** Adds missing messages to a conversation. */
function extend(
	conversation: Conversation,
	messages: readonly Message[],
	dialect: Dialect,
	remembered: WeakMap<Message, PromptMessage> | undefined,
): Conversation {
	for (let index = conversation.messages.length; index < messages.length; index++) {
		const message = messages[index] as Message;
		let converted = remembered?.get(message);
		if (converted === undefined) {
			converted = promptMessage(messages, index, dialect);
			if (remembered !== undefined && isWhole(converted)) remembered.set(message, converted);
		}
		conversation.messages.push(message);
		conversation.converted.push(converted);
		conversation.hasBreakpoint ||= hasBreakpoint(converted);
		conversation.order.add(converted, conversation.prompt);
	}
	return conversation;
}

function cacheOf(dialect: Dialect): Cache {
	let cache = caches.get(dialect);
	if (cache === undefined) {
		cache = { conversations: new WeakMap(), messages: new WeakMap() };
		caches.set(dialect, cache);
	}
	return cache;
}
