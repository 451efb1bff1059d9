// How an answer ended and its usage, converted from each AI SDK version.

import type { StopReason, TokenUsage } from "../turn/index.ts";
import type { AISDKFinishReason, AISDKUsage } from "./language-model-types.ts";

/** Converts the finish reason. */
export function toStopReason(reason: AISDKFinishReason | null | undefined): StopReason {
	switch (typeof reason === "object" ? reason?.unified : reason) {
		case "stop":
			return "stop";
		case "length":
			return "length";
		case "tool-calls":
			return "tool_calls";
		case "content-filter":
			return "content_filter";
		case "error":
			return "error";
		default:
			return "other";
	}
}

/** Whether the model gave no reason for stopping, for example because the stream was interrupted. */
export function isCutOff(reason: AISDKFinishReason | null | undefined): boolean {
	if (reason === undefined || reason === null || reason === "unknown") return true;
	if (typeof reason !== "object") return false;
	return reason.unified === "interrupted" || (reason.unified === "other" && reason.raw === undefined);
}

/** Converts the usage. Counts that the provider omits are 0. */
export function toUsage(given: AISDKUsage | null | undefined): TokenUsage {
	const input = given?.inputTokens;
	const output = given?.outputTokens;
	const nested = typeof input === "object" ? input : undefined;
	const inputTokens = counted(typeof input === "object" ? input?.total : input) ?? 0;
	const outputTokens = counted(typeof output === "object" ? output?.total : output) ?? 0;
	const usage: TokenUsage = {
		inputTokens,
		outputTokens,
		totalTokens: counted(given?.totalTokens) ?? inputTokens + outputTokens,
	};
	const cacheRead = counted(nested?.cacheRead) ?? counted(given?.cachedInputTokens);
	if (cacheRead !== undefined) usage.cacheReadTokens = cacheRead;
	const cacheWrite = counted(nested?.cacheWrite);
	if (cacheWrite !== undefined) usage.cacheWriteTokens = cacheWrite;
	const reasoning = counted(typeof output === "object" ? output?.reasoning : given?.reasoningTokens);
	if (reasoning !== undefined && reasoning > 0) usage.reasoningTokens = reasoning;
	return usage;
}

/** Providers have several ways to omit a count. */
function counted(count: number | null | undefined): number | undefined {
	return count === null || Number.isNaN(count) ? undefined : count;
}
