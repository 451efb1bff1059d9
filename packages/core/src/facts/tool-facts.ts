// The facts about tool calls: requested by a strategy, started, settled.
import type { ProviderMetadata, TokenUsage, ToolCall } from "@holdfast/upp";

/**
 * How a tool call got its result. All but `done` reach the model marked as an error. `expired`: no outside answer arrived
 * in time.
 */
export type ToolCallOutcome = "done" | "error" | "cancelled" | "unknown" | "skipped" | "expired";

/**
 * A strategy called tools without asking a model. The calls and their results are part of the run, but not of the
 * history: no model made them, and no model sees them.
 */
export interface ToolsRequested {
	readonly kind: "tools.requested";
	/** Number of the step within the run, from 1; 0 before the first. */
	readonly step: number;
	/** The purpose of the calls: the strategy's own tag. */
	readonly tag: string;
	/** The calls, in order. */
	readonly calls: readonly ToolCall[];
	/** Set if the step continues after the results. */
	readonly continues?: true;
}

/** A tool call is about to run. A call without this fact never started (keeps I3). */
export interface ToolStarted {
	readonly kind: "tool.started";
	/** The number of the step within the run. */
	readonly step: number;
	/** The id of the call. */
	readonly callId: string;
	/** The tool to run. */
	readonly name: string;
	/** The final input, if it differs from the model's arguments. */
	readonly input?: unknown;
	/** Counted from 1; 2 when the call is started again after a crash. */
	readonly attempt: number;
	/** The key that every attempt at the call has. */
	readonly idempotencyKey: string;
}

/** The usage of a sub-agent, including its own sub-agents. */
export interface Spent {
	/** Tokens of all of its model calls. */
	readonly usage: TokenUsage;
	/** Cost in US dollars of the answers whose price is known. */
	readonly cost: number;
	/** How many answers have an unknown price. */
	readonly unpriced: number;
}

/** A tool call has its result, from the tool or from another source. */
export interface ToolSettled {
	readonly kind: "tool.settled";
	/** The number of the step within the run. */
	readonly step: number;
	/** The id of the call. */
	readonly callId: string;
	/** How the call got its result. */
	readonly outcome: ToolCallOutcome;
	/** The result that the model receives. */
	readonly result: unknown;
	/** Data of the tool for the application. Never sent to a model. */
	readonly details?: unknown;
	/** If the tool threw: the stack frames, for logs. Never sent to a model or client. */
	readonly stack?: string;
	/** Set if the tool reports that the call was denied; `result` is the reason. */
	readonly denied?: true;
	/** Passed to the provider with the result. */
	readonly metadata?: ProviderMetadata;
	/** Milliseconds that the tool ran; 0 if it never did. */
	readonly duration: number;
	/** The decision, if the call required approval. */
	readonly approved?: boolean;
	/** The usage of a sub-agent, if one did the work of the call. */
	readonly spent?: Spent;
	/** Total length of its deltas in characters, if they are stored. */
	readonly streamed?: number;
	/** The names of the tools that it loaded: the model is sent them from the next call on. */
	readonly loads?: readonly string[];
}
