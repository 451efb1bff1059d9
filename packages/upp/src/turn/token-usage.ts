// The token usage of a model call, and the sum of several.

/** Numbers of tokens used. */
export interface TokenUsage {
	/** Tokens of the prompt, including cached ones. */
	inputTokens: number;
	/** Tokens that the model generated, including reasoning. */
	outputTokens: number;
	/** The sum as the provider reported it, otherwise input plus output. */
	totalTokens: number;
	/** Input tokens read from the provider's cache; part of `inputTokens`. */
	cacheReadTokens?: number;
	/** Input tokens written to the provider's cache; part of `inputTokens`. */
	cacheWriteTokens?: number;
	/** Output tokens that the model spent on reasoning; part of `outputTokens`. Absent if unknown. */
	reasoningTokens?: number;
	/** One entry per model call, in order. */
	cycles?: readonly { inputTokens: number; outputTokens: number }[];
}

/** Returns a usage of zero tokens. */
export function emptyUsage(): TokenUsage {
	return { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
}

/** Adds two usages. Drops `cycles`, so that the cost of an addition does not grow with each call. */
export function sumUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
	const sum: TokenUsage = {
		inputTokens: a.inputTokens + b.inputTokens,
		outputTokens: a.outputTokens + b.outputTokens,
		totalTokens: a.totalTokens + b.totalTokens,
	};
	if (a.cacheReadTokens !== undefined || b.cacheReadTokens !== undefined) {
		sum.cacheReadTokens = (a.cacheReadTokens ?? 0) + (b.cacheReadTokens ?? 0);
	}
	if (a.cacheWriteTokens !== undefined || b.cacheWriteTokens !== undefined) {
		sum.cacheWriteTokens = (a.cacheWriteTokens ?? 0) + (b.cacheWriteTokens ?? 0);
	}
	if (a.reasoningTokens !== undefined || b.reasoningTokens !== undefined) {
		sum.reasoningTokens = (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0);
	}
	return sum;
}
