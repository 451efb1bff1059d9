// Keeps the end of a history. The cut never separates a tool call from its result, and the kept part starts with a user
// message. What a step costs does not depend on the length of the history (keeps I5).
import { checkOptions, HoldfastError, type Message, optionNames } from "@holdfast/upp";
import { type AssembledRequest, GrowingSum } from "../assembled-request.ts";
import type { Interceptor } from "../interceptor.ts";
import { PinnedPositions, pinnedBefore } from "../pinned.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import type { Middleware } from "./middleware-face.ts";
import { readCount, readNumber } from "./read-options.ts";
import { positionOf, type ShortenView, shortenHistory } from "./shorten-history.ts";
import { shownBy, type Window, windowFrom, windowOf, withLastAnswer } from "./window-of.ts";

/** Options of `slidingWindow`. */
export interface SlidingWindowOptions {
	/**
	 * The maximum number of messages to keep, in addition to the new input; more only if the last calls and their results
	 * are more. Default 50; no limit with `maxTokens`.
	 */
	readonly max?: number;
	/**
	 * How many messages the window drops at a time, from 1 to `max`. With 1, every message moves the window, and providers
	 * cannot reuse their prompt cache. With a larger block, the window keeps more than `max - block` messages and its
	 * beginning stays the same for many requests. Default 1.
	 */
	readonly block?: number;
	/**
	 * The maximum number of tokens of a request, as the provider counts them: its count of the last request, with the
	 * difference estimated at four characters of JSON per token. Before the first count, the estimate of the messages alone.
	 * A request that would exceed it keeps the recent messages that fit into half of what instructions and tools leave.
	 * The window then begins at the same message until the limit is reached again. Default: no limit.
	 */
	readonly maxTokens?: number;
}

const slidingWindowNames = optionNames<SlidingWindowOptions>({ max: true, block: true, maxTokens: true });

const name = "sliding-window";

interface Limits {
	readonly limit: number;
	readonly block: number;
	readonly maxTokens: number | undefined;
}

/**
 * Before every model call, keeps at most the `max` most recent messages, starting with the first user message among them.
 * If the last exchange alone is longer, its question is kept with the end of its answer. Messages created by `pinned()`
 * are kept too, at most `max` of them, and those that fit into a quarter of `maxTokens`.
 *
 * @throws HoldfastError `invalid_option` unless `max` and `block` are integers of at least 1 and `maxTokens` is a number of
 * at least 1; `conflicting_options` if `block` exceeds `max`.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * const clerk = agent({ model: openai("gpt-5.2"), middleware: [slidingWindow({ max: 40, block: 20 })] });
 */
export function slidingWindow(max: number | SlidingWindowOptions = {}): Middleware & Interceptor {
	checkOptions(typeof max === "object" && max !== null ? max : {}, slidingWindowNames, {
		of: "slidingWindow()",
	});
	const given = typeof max === "number" ? { max } : max;
	const maxTokens = given.maxTokens === undefined ? undefined : readNumber(given.maxTokens, "maxTokens", 1);
	const most = maxTokens === undefined ? 50 : Number.POSITIVE_INFINITY;
	const limit = readCount(given.max ?? most, "max", 1);
	const block = readCount(given.block ?? 1, "block", 1);
	if (block > limit)
		throw new HoldfastError(
			"conflicting_options",
			`\`block\` is ${block} and \`max\` is ${limit}: the window would drop more than it keeps. Give a \`block\` of at most \`max\`.`,
		);
	const limits = { limit, block, maxTokens };
	return shortenHistory(
		name,
		(messages) => new MovingWindow(limits).before(messages),
		() => {
			const window = new MovingWindow(limits);
			return (...given) => window.view(...given);
		},
	);
}

/** Returns how many of a number of messages are kept. The number of dropped ones is a multiple of `block`. */
function keptOf(count: number, { limit, block }: Limits): number {
	if (count <= limit) return limit;
	return count - Math.ceil((count - limit) / block) * block;
}

/** The window of one run. It keeps what it has found about the history, which is proportional to its length. */
class MovingWindow {
	readonly #limits: Limits;
	readonly #pins = new PinnedPositions();
	readonly #sum = new GrowingSum(estimateTokens);
	#cut = -1;

	constructor(limits: Limits) {
		this.#limits = limits;
	}

	/** Shortens a history before a run. */
	before(messages: readonly Message[]): readonly Message[] | undefined {
		const { length } = messages;
		const window = windowOf(messages, length, keptOf(length, this.#limits));
		return this.#within(messages, length, window, undefined);
	}

	/** Shortens the view of a model call. */
	readonly view: ShortenView = (messages, request, inputOf) => {
		const { length } = messages;
		const input = inputOf();
		const others = input < length ? length - 1 : length;
		const window = windowOf(messages, input, keptOf(others, this.#limits));
		return this.#within(messages, input, withLastAnswer(messages, input, window), request);
	};

	/** Applies the limit of tokens. */
	#within(
		messages: readonly Message[],
		input: number,
		given: Window | undefined,
		request: AssembledRequest | undefined,
	): readonly Message[] | undefined {
		const { maxTokens } = this.#limits;
		if (maxTokens === undefined) return given && this.#shown(messages, given, request);
		const room = request?.room(maxTokens) ?? maxTokens;
		this.#cut = positionOf(messages, request?.cut(name), this.#cut);
		const window = this.#cut > (given?.from ?? 0) ? windowFrom(messages, input, this.#cut) : given;
		const shown = window && this.#shown(messages, window, request, room);
		const history = shown === undefined ? request?.historyOf(messages) : undefined;
		if (this.#sum.of(shown ?? messages, history) <= room) return shown;
		const moved = withLastAnswer(
			messages,
			input,
			windowOf(messages, input, recent(messages, input, room / 2)),
		);
		if (moved === undefined || moved.from <= (window?.from ?? 0)) return shown;
		const first = messages[moved.from];
		if (first !== undefined) request?.moveCut(name, first.id);
		return this.#shown(messages, moved, request, room);
	}

	/** Returns the window after the pinned messages that it has dropped. */
	#shown(
		messages: readonly Message[],
		window: Window,
		request: AssembledRequest | undefined,
		room = Number.POSITIVE_INFINITY,
	): readonly Message[] {
		const positions = this.#pins.of(messages, request);
		let left = this.#limits.limit;
		let tokens = room / 4;
		const pins = pinnedBefore(messages, positions, window, (message) => {
			tokens -= estimateTokens(message);
			return left-- > 0 && tokens >= 0;
		});
		const shown = shownBy(messages, window);
		return pins.length === 0 ? shown : [...pins, ...shown];
	}
}

/** Returns how many messages at the end, apart from the input, have at most this many tokens together; at least one. */
function recent(messages: readonly Message[], input: number, tokens: number): number {
	let count = 0;
	let left = tokens - (input < messages.length ? estimateTokens(messages[input] as Message) : 0);
	for (let at = messages.length - 1; at >= 0; at--) {
		if (at === input) continue;
		left -= estimateTokens(messages[at] as Message);
		if (left < 0) break;
		count++;
	}
	return Math.max(1, count);
}
