// Clears old tool outputs when the history gets too long. Every result keeps its position and id, so no call is left
// without an answer.
import {
	checkOptions,
	isAssistantMessage,
	isToolResultMessage,
	type Message,
	optionNames,
	ToolResultMessage,
} from "@holdfast/upp";
import { GrowingSum, type Measure, measureOf } from "../assembled-request.ts";
import type { Interceptor } from "../interceptor.ts";
import { type EstimateTokens, sumTokens } from "./estimate-tokens.ts";
import type { Middleware } from "./middleware-face.ts";
import { readNumber } from "./read-options.ts";
import { positionOf, type ShortenView, shortenHistory } from "./shorten-history.ts";

/** The replacement of an output. */
const cleared = "[Output cleared - context limit]";

const name = "prune-tool-outputs";

/** Options of `pruneToolOutputs`. All limits are in tokens. */
export interface PruneToolOutputsOptions {
	/** The model's context size in tokens. Default 200,000. */
	readonly contextLimit?: number;
	/** Tokens of the context reserved for the answer. Default 16,000. */
	readonly outputReserve?: number;
	/** Outputs within this many tokens from the end of the history are kept. Default 40,000. */
	readonly protectRecent?: number;
	/**
	 * How many tokens of the history are pruned at a time; until then, up to this many more are kept. Matters when messages
	 * other than old outputs fill the context: with 0, nearly every request then clears one more output, and providers cannot
	 * reuse their prompt cache. Default 0.
	 */
	readonly block?: number;
	/**
	 * Estimates the tokens of a message. The limits then apply to the sum of these estimates. Default: the provider's count of
	 * the last request, with the difference estimated at four characters of JSON per token; before the first count, the
	 * estimate of the messages alone.
	 */
	readonly estimate?: EstimateTokens;
}

const pruneToolOutputsNames = optionNames<PruneToolOutputsOptions>({
	contextLimit: true,
	outputReserve: true,
	protectRecent: true,
	block: true,
	estimate: "function",
});

interface Limits {
	readonly limit: number;
	readonly protectRecent: number;
	readonly block: number;
	readonly measure: Measure;
}

/**
 * Before every model call, checks whether the request fits into `contextLimit - outputReserve` tokens. If it does not,
 * tool outputs older than the last `protectRecent` tokens become "[Output cleared - context limit]"; all other messages
 * stay. Later requests show the same outputs until the limit is exceeded again.
 *
 * @throws HoldfastError `invalid_option` for limits that are not numbers.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * const reader = agent({ model: openai("gpt-5.2"), middleware: [pruneToolOutputs({ contextLimit: 128_000 })] });
 */
export function pruneToolOutputs(options: PruneToolOutputsOptions = {}): Middleware & Interceptor {
	checkOptions(options, pruneToolOutputsNames, { of: "pruneToolOutputs()" });
	const contextLimit = readNumber(options.contextLimit ?? 200_000, "contextLimit", 0);
	const outputReserve = readNumber(options.outputReserve ?? 16_000, "outputReserve", 0);
	const protectRecent = readNumber(options.protectRecent ?? 40_000, "protectRecent", 0);
	const block = readNumber(options.block ?? 0, "block", 0);
	const measure = measureOf(options.estimate);
	const limits = { limit: contextLimit - outputReserve, protectRecent, block, measure };
	return shortenHistory(
		name,
		(messages) => {
			const tokens = sumTokens(messages, measure.estimate);
			if (tokens <= limits.limit) return undefined;
			const old = tokens - protectRecent;
			const inBlocks = block === 0 ? old : Math.floor(old / block) * block;
			return clearBefore(messages, firstKept(messages, messages.length, inBlocks, measure.estimate));
		},
		() => pruned(limits),
	);
}

/** Creates the function for the views of one run. */
function pruned({ measure, limit, protectRecent, block }: Limits): ShortenView {
	const { estimate } = measure;
	const all = new GrowingSum(estimate);
	const shown = new GrowingSum(estimate);
	let cut = -1;
	return (messages, request) => {
		const room = measure.room(limit, request);
		cut = positionOf(messages, request.cut(name), cut);
		const before = cut <= 0 ? undefined : clearBefore(messages, cut);
		if (shown.of(before ?? messages) <= room) return before;
		const old = all.of(messages) - measure.estimated(protectRecent, request);
		// The model has not yet seen the results of its last calls.
		const until = messages.findLastIndex(isAssistantMessage);
		const moved = firstKept(messages, until, old, estimate);
		const first = messages[moved];
		if (moved <= cut || first === undefined) return before;
		const added = all.between(Math.max(0, cut), moved);
		if (added < measure.estimated(block, request)) return before;
		const now = clearBefore(messages, moved);
		if (now !== undefined) request.moveCut(name, first.id);
		return now;
	};
}

/** Returns the position after the old messages among the first `until`: fewer than `old` tokens precede each of them. */
function firstKept(
	messages: readonly Message[],
	until: number,
	old: number,
	estimate: EstimateTokens,
): number {
	let before = 0;
	let at = 0;
	for (; at < until && before < old; at++) before += estimate(messages[at] as Message);
	return at;
}

/** Returns the messages with the outputs before a position cleared; undefined if there was nothing to clear. */
function clearBefore(messages: readonly Message[], end: number): readonly Message[] | undefined {
	let shown: Message[] | undefined;
	for (let at = 0; at < end; at++) {
		const message = messages[at] as Message;
		if (!isToolResultMessage(message) || message.results.every(({ result }) => result === cleared)) continue;
		shown ??= [...messages];
		shown[at] = clear(message);
	}
	return shown;
}

/** Messages are immutable, so each is cleared once, and what is known about the cleared one is found again. */
const clearedOnes = new WeakMap<Message, ToolResultMessage>();

function clear(message: ToolResultMessage): ToolResultMessage {
	let emptied = clearedOnes.get(message);
	if (emptied === undefined) {
		const { results, id, timestamp, metadata } = message;
		emptied = new ToolResultMessage(
			results.map((each) => ({ ...each, result: cleared })),
			{ id, timestamp, ...(metadata === undefined ? {} : { metadata }) },
		);
		clearedOnes.set(message, emptied);
	}
	return emptied;
}
