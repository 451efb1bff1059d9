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
import { ownView } from "../own-views.ts";
import type { EstimateTokens } from "./estimate-tokens.ts";
import type { Middleware } from "./middleware-face.ts";
import { readNumber } from "./read-options.ts";
import { positionOf, type ShortenView, shortenHistory } from "./shorten-history.ts";

/** The replacement of an output. */
const replacement = "[Output cleared - context limit]";

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
			const sum = new GrowingSum(measure.estimate);
			const tokens = sum.of(messages);
			if (tokens <= limits.limit) return undefined;
			const old = tokens - protectRecent;
			const inBlocks = block === 0 ? old : Math.floor(old / block) * block;
			const shown = new ClearedHistory(measure.estimate);
			shown.clear(messages, sum.positionAfter(inBlocks), 0);
			return shown.view(messages);
		},
		() => pruned(limits),
	);
}

/** Creates the function for the views of one run. */
function pruned({ measure, limit, protectRecent, block }: Limits): ShortenView {
	const { estimate } = measure;
	const all = new GrowingSum(estimate);
	const shown = new ClearedHistory(estimate);
	let cut = -1;
	return (messages, request) => {
		const room = measure.room(limit, request);
		const total = all.of(messages, request.historyOf(messages));
		cut = positionOf(messages, request.cut(name), cut);
		const kept = Math.max(0, cut);
		shown.clear(messages, kept, all.unchanged);
		if (shown.tokens + all.between(kept, messages.length) <= room) return shown.view(messages);
		// The model has not yet seen the results of its last calls.
		const until = messages.findLastIndex(isAssistantMessage);
		const old = total - measure.estimated(protectRecent, request);
		const moved = Math.min(Math.max(0, until), all.positionAfter(old));
		const first = messages[moved];
		const isMoved = moved > cut && first !== undefined;
		if (!isMoved || all.between(kept, moved) < measure.estimated(block, request)) return shown.view(messages);
		shown.clear(messages, moved, moved);
		const view = shown.view(messages);
		if (view !== undefined) request.moveCut(name, first.id);
		return view;
	};
}

/** The beginning of a growing history with its outputs cleared. Each message is cleared and measured once (keeps I5). */
class ClearedHistory {
	readonly #estimate: EstimateTokens;
	#shown: Message[] = [];
	/** The sums of the shown messages up to each position. */
	readonly #sums: number[] = [];
	/** The position of the first message that is cleared. */
	#first = Number.POSITIVE_INFINITY;
	/** How many messages at the beginning are those of the last view. */
	#same = 0;
	#last: readonly Message[] | undefined;

	constructor(estimate: EstimateTokens) {
		this.#estimate = estimate;
	}

	/** The tokens of the cleared part. */
	get tokens(): number {
		return this.#sums.at(-1) ?? 0;
	}

	/** Clears the outputs before a position, of which the first `unchanged` messages are those of the last call. */
	clear(messages: readonly Message[], end: number, unchanged: number): void {
		this.#same = Math.min(this.#same, unchanged, end < this.#shown.length ? end : Number.POSITIVE_INFINITY);
		const kept = Math.min(end, unchanged, this.#shown.length);
		this.#shown.length = kept;
		this.#sums.length = kept;
		if (this.#first >= kept) this.#first = Number.POSITIVE_INFINITY;
		let sum = this.tokens;
		for (let at = kept; at < end; at++) {
			const message = messages[at] as Message;
			const shown = cleared(message);
			if (shown !== message) {
				this.#first = Math.min(this.#first, at);
				this.#same = Math.min(this.#same, at);
			}
			sum += this.#estimate(shown);
			this.#shown.push(shown);
			this.#sums.push(sum);
		}
	}

	/** Returns the messages with the cleared part in place of their beginning; undefined if nothing is cleared. */
	view(messages: readonly Message[]): readonly Message[] | undefined {
		if (this.#first === Number.POSITIVE_INFINITY) {
			this.#last = undefined;
			return undefined;
		}
		const view = this.#shown.concat(messages.slice(this.#shown.length));
		this.#last = ownView(view, this.#last, this.#same);
		this.#same = view.length;
		return view;
	}
}

/** Messages are immutable, so each is cleared once, and what is known about the cleared one is found again. */
const clearedOnes = new WeakMap<Message, ToolResultMessage>();

/** Returns a message with its outputs cleared; the same message if it has none. */
function cleared(message: Message): Message {
	if (
		!isToolResultMessage(message) ||
		message.results.every(({ result }) => replacementOf(result) === result)
	)
		return message;
	let emptied = clearedOnes.get(message);
	if (emptied === undefined) {
		const { results, id, timestamp, metadata } = message;
		emptied = new ToolResultMessage(
			results.map((each) => ({ ...each, result: replacementOf(each.result) })),
			{ id, timestamp, ...(metadata === undefined ? {} : { metadata }) },
		);
		clearedOnes.set(message, emptied);
	}
	return emptied;
}

/** The note with which `largeResults()` of `@holdfast/context` begins a result that it has stored. */
const storedNote =
	/^(?:\[Output cleared - context limit\]\n)?(\[This result is long: [^\n]{1,300}\])(?:\n|$)/;

/** Returns what is shown in place of an output. The model can still read one that is stored. */
function replacementOf(result: unknown): string {
	const [, note] = (typeof result === "string" && storedNote.exec(result)) || [];
	return note === undefined ? replacement : `${replacement}\n${note}`;
}
