// Keeps the end of a history. The cut never separates a tool call from its result, and the kept part starts with a user
// message.
import {
	checkOptions,
	HoldfastError,
	isAssistantMessage,
	isUserMessage,
	type Message,
	optionNames,
} from "@holdfast/upp";
import type { Interceptor } from "../interceptor.ts";
import { pinnedOf } from "../pinned.ts";
import type { Middleware } from "./middleware-face.ts";
import { readCount } from "./read-options.ts";
import { shortenHistory } from "./shorten-history.ts";

/** Options of `slidingWindow`. */
export interface SlidingWindowOptions {
	/** The maximum number of messages to keep, in addition to the new input. Default 50. */
	readonly max?: number;
	/**
	 * How many messages the window drops at a time, from 1 to `max`. With 1, every message moves the window, and providers
	 * cannot reuse their prompt cache. With a larger block, the window keeps more than `max - block` messages and its
	 * beginning stays the same for many requests. Default 1.
	 */
	readonly block?: number;
}

const slidingWindowNames = optionNames<SlidingWindowOptions>({ max: true, block: true });

/**
 * Before every model call, keeps at most the `max` most recent messages, starting with the first user message among them.
 * If the last exchange alone is longer, its question is kept with the end of its answer. Messages created by `pinned()`
 * are kept too, at most `max` of them.
 *
 * @throws HoldfastError `invalid_option` unless `max` and `block` are integers of at least 1; `conflicting_options` if `block`
 * exceeds `max`.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * const clerk = agent({ model: openai("gpt-5.2"), middleware: [slidingWindow({ max: 40, block: 20 })] });
 */
export function slidingWindow(max: number | SlidingWindowOptions = {}): Middleware & Interceptor {
	checkOptions(typeof max === "object" && max !== null ? max : {}, slidingWindowNames, {
		of: "slidingWindow()",
	});
	const given = typeof max === "number" ? { max } : max;
	const limit = readCount(given.max ?? 50, "max", 1);
	const block = readCount(given.block ?? 1, "block", 1);
	if (block > limit)
		throw new HoldfastError(
			"conflicting_options",
			`\`block\` is ${block} and \`max\` is ${limit}: the window would drop more than it keeps. Give a \`block\` of at most \`max\`.`,
		);
	return shortenHistory(
		"sliding-window",
		(messages) => {
			if (messages.length <= limit) return undefined;
			return withPinned(messages, lastOf(messages, keptOf(messages.length, limit, block)), limit);
		},
		(messages, input) => {
			const others = input < messages.length ? messages.length - 1 : messages.length;
			const kept = windowOf(messages, input, keptOf(others, limit, block));
			return kept && withPinned(messages, kept, limit);
		},
	);
}

/** Returns the window after the pinned messages that it has dropped. */
function withPinned(
	messages: readonly Message[],
	kept: readonly Message[],
	limit: number,
): readonly Message[] {
	const shown = new Set(kept);
	let left = limit;
	const pins = pinnedOf(messages, (message) => shown.has(message) || left-- > 0);
	const dropped = pins.filter((message) => !shown.has(message));
	return dropped.length === 0 ? kept : [...dropped, ...kept];
}

/** Returns how many of a number of messages are kept. The number of dropped ones is a multiple of `block`. */
function keptOf(count: number, limit: number, block: number): number {
	if (count <= limit) return limit;
	return count - Math.ceil((count - limit) / block) * block;
}

/** Returns the input in addition to the `limit` most recent of all other messages. */
function windowOf(
	messages: readonly Message[],
	input: number,
	limit: number,
): readonly Message[] | undefined {
	const since = messages.length - input - 1;
	if (since + input <= limit) return undefined;
	if (since < 0) return lastOf(messages, limit);
	const turn = messages.slice(input);
	if (since >= limit) return since === limit ? turn : endOf(turn, limit);
	return [...lastOf(messages.slice(0, input), limit - since), ...turn];
}

/**
 * Returns the input and the end of what followed it, starting with an answer: an earlier result would have lost its call.
 */
function endOf(turn: readonly Message[], limit: number): readonly Message[] {
	const from = turn.findIndex((message, at) => at >= turn.length - limit && isAssistantMessage(message));
	return from < 0 ? turn.slice(0, 1) : [turn[0] as Message, ...turn.slice(from)];
}

function lastOf(messages: readonly Message[], limit: number): readonly Message[] {
	const start = messages.findIndex((message, at) => at >= messages.length - limit && isUserMessage(message));
	if (start >= 0) return messages.slice(start);
	// An answer starts with an assistant message: an earlier result would have lost its call.
	const answer = messages.findIndex(
		(message, at) => at > messages.length - limit && isAssistantMessage(message),
	);
	const question = messages.findLast(isUserMessage);
	return answer < 0 || question === undefined ? [] : [question, ...messages.slice(answer)];
}
