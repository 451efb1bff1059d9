// The outcome of one call: the messages it added, the tools it ran, and its usage.

import { HoldfastError } from "../errors/index.ts";
import {
	type AssistantMessage,
	isAssistantMessage,
	type Message,
	type ToolExecution,
} from "../messages/index.ts";
import type { StopReason } from "./stop-reason.ts";
import type { TokenUsage } from "./token-usage.ts";

/** The outcome of one `generate` or `stream`. */
export interface Turn<Data = unknown> {
	/** The inputs and everything that was produced, in order; never the history. */
	readonly messages: readonly Message[];
	/** The model's last answer. */
	readonly response: AssistantMessage;
	/** The executed tool calls, in order. */
	readonly toolExecutions: readonly ToolExecution[];
	/** The sum over all model calls. */
	readonly usage: TokenUsage;
	/** How many model calls were made. */
	readonly cycles: number;
	/**
	 * Why the model stopped its last answer. `length`: it was cut off at the token limit. `content_filter`: the provider
	 * refused it. Absent in a turn from another package.
	 */
	readonly stopReason?: StopReason;
	/** The parsed output, if a `structure` was requested. */
	readonly data?: Data;
}

/** The parts a turn is built from. */
export interface TurnParts<Data = unknown> {
	/** The inputs and everything that was produced, in order. */
	messages: readonly Message[];
	/** Default: the last assistant message in `messages`. */
	response?: AssistantMessage;
	/** The executed tool calls. Default: none. */
	toolExecutions?: readonly ToolExecution[];
	/** The sum over all model calls. */
	usage: TokenUsage;
	/** How many model calls were made. */
	cycles: number;
	/** Default: `tool_calls` for a response with calls, otherwise `stop`. */
	stopReason?: StopReason;
	/** The parsed output, if any. */
	data?: Data;
}

/**
 * Builds a turn.
 * @throws HoldfastError `invalid_message` if there is no assistant message to use as the response.
 */
export function createTurn<Data = unknown>(parts: TurnParts<Data>): Turn<Data> {
	const response = parts.response ?? parts.messages.findLast((message) => isAssistantMessage(message));
	if (response === undefined) {
		throw new HoldfastError("invalid_message", "A turn needs an assistant message: give `response`.");
	}
	const turn: Turn<Data> = {
		messages: parts.messages,
		response: response as AssistantMessage,
		toolExecutions: parts.toolExecutions ?? [],
		usage: parts.usage,
		cycles: parts.cycles,
		stopReason: parts.stopReason ?? (hasCalls(response) ? "tool_calls" : "stop"),
	};
	return parts.data === undefined ? turn : { ...turn, data: parts.data };
}

function hasCalls(response: unknown): boolean {
	return (response as AssistantMessage).hasToolCalls;
}
