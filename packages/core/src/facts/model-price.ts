// The price of a model.
import type { TokenUsage } from "@holdfast/upp";

/** In US dollars per million tokens. */
export interface ModelPrice {
	/** For input tokens. */
	readonly input: number;
	/** For output tokens. */
	readonly output: number;
	/** Default: the price of `input`. */
	readonly cacheRead?: number;
	/** Default: the price of `input`. */
	readonly cacheWrite?: number;
}

/** Returns the cost of tokens in US dollars. */
export function costOf(usage: TokenUsage, price: ModelPrice): number {
	const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
	return (
		((inputTokens - cacheReadTokens - cacheWriteTokens) * price.input +
			cacheReadTokens * (price.cacheRead ?? price.input) +
			cacheWriteTokens * (price.cacheWrite ?? price.input) +
			outputTokens * price.output) /
		1_000_000
	);
}
