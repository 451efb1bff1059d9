// The cost of a model call in tokens, and the sum of several calls.

/** Tokens used. */
export interface TokenUsage {
	inputTokens: number;
	outputTokens: number;
	totalTokens: number;
	/** Input tokens read from the provider's cache; part of `inputTokens`. */
	cacheReadTokens?: number;
	/** Input tokens written to the provider's cache; part of `inputTokens`. */
	cacheWriteTokens?: number;
	/** Output tokens that the model spent on reasoning; part of `outputTokens`. Absent where none are known. */
	reasoningTokens?: number;
	/** One entry for each model call, in order. */
	cycles?: readonly { inputTokens: number; outputTokens: number }[];
}

/** No tokens at all. */
export function emptyUsage(): TokenUsage {
	return { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
}

/** The sum of two usages. `cycles` are not carried over: adding call by call must not cost more with each call. */
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
