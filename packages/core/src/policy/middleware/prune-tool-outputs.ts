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
import type { Interceptor } from "../interceptor.ts";
import { type EstimateTokens, estimateTokens, sumTokens } from "./estimate-tokens.ts";
import type { Middleware } from "./middleware-face.ts";
import { readNumber } from "./read-options.ts";
import { shortenHistory } from "./shorten-history.ts";

/** The replacement of an output. */
const cleared = "[Output cleared - context limit]";

/** Options of `pruneToolOutputs`. All limits are in tokens. */
export interface PruneToolOutputsOptions {
	/** The model's context size in tokens. Default 200,000. */
	readonly contextLimit?: number;
	/** Tokens of the context reserved for the answer. Default 16,000. */
	readonly outputReserve?: number;
	/** Outputs within this many tokens from the end of the history are kept. Default 40,000. */
	readonly protectRecent?: number;
	/**
	 * How many tokens of the history are pruned at a time; until then, up to this many more are kept. With 0, nearly every
	 * request clears one more output, and providers cannot reuse their prompt cache. Default 0.
	 */
	readonly block?: number;
	/** Estimates the tokens of a message. Default: one token per four characters of its JSON. */
	readonly estimate?: EstimateTokens;
}

const pruneToolOutputsNames = optionNames<PruneToolOutputsOptions>({
	contextLimit: true,
	outputReserve: true,
	protectRecent: true,
	block: true,
	estimate: "function",
});

/**
 * Before every model call, checks whether the history fits into `contextLimit - outputReserve` tokens. If it does not,
 * tool outputs older than the last `protectRecent` tokens become "[Output cleared - context limit]"; all other messages
 * stay.
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
	const estimate = options.estimate ?? estimateTokens;
	const prune = (messages: readonly Message[], until: number): readonly Message[] | undefined => {
		const tokens = sumTokens(messages, estimate);
		if (tokens <= contextLimit - outputReserve) return undefined;
		const old = tokens - protectRecent;
		return clearBefore(messages, until, block === 0 ? old : Math.floor(old / block) * block, estimate);
	};
	return shortenHistory(
		"prune-tool-outputs",
		(messages) => prune(messages, messages.length),
		// The model has not yet seen the results of its last calls.
		(messages) => prune(messages, messages.findLastIndex(isAssistantMessage)),
	);
}

/**
 * Returns the messages with the old outputs among the first `until` cleared; undefined if there was nothing to clear. An
 * output is old if fewer than `old` tokens precede it.
 */
function clearBefore(
	messages: readonly Message[],
	until: number,
	old: number,
	estimate: EstimateTokens,
): readonly Message[] | undefined {
	let pruned: Message[] | undefined;
	let before = 0;
	for (let at = 0; at < until && before < old; at++) {
		const message = messages[at] as Message;
		before += estimate(message);
		if (!isToolResultMessage(message) || message.results.every(({ result }) => result === cleared)) continue;
		pruned ??= [...messages];
		pruned[at] = clear(message);
	}
	return pruned;
}

function clear({ results, id, timestamp, metadata }: ToolResultMessage): ToolResultMessage {
	const emptied = results.map((each) => ({ ...each, result: cleared }));
	return new ToolResultMessage(emptied, {
		id,
		timestamp,
		...(metadata === undefined ? {} : { metadata }),
	});
}
