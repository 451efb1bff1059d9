// The calls that a workflow's code makes, as they reach the code that performs them.
import type { ToolCallOutcome } from "../facts/index.ts";
import type { Reconciliation } from "../tools/index.ts";
import type { ModelWork } from "./model-work.ts";

/** The argument of a step's function. */
export interface StepContext {
	/**
	 * Identifies the step in its run. It is the same in every attempt and after a crash. Pass it to services that
	 * deduplicate requests.
	 */
	readonly idempotencyKey: string;
	/** Number of the attempt, from 1. */
	readonly attempt: number;
	/** Aborted when the step times out, and when the run is stopped. */
	readonly signal: AbortSignal;
}

/** A step with its resolved options. */
export interface StepCall {
	readonly kind: "step";
	run(context: StepContext): unknown;
	readonly retryPolicy: "pure" | "idempotent" | "manual-recovery";
	readonly retries: number;
	/** Milliseconds before the first retry. The delay doubles with each further one, up to `maxRetryDelayMs`. */
	readonly retryDelayMs: number;
	readonly maxRetryDelayMs: number;
	readonly timeoutMs: number | undefined;
	reconcile:
		| ((call: { readonly idempotencyKey: string }) => Reconciliation | Promise<Reconciliation>)
		| undefined;
}

/** A call whose value is known at once. */
export interface ValueCall {
	readonly kind: "value";
	value(ports: { now(): number; uuid(): string }): unknown;
	/** For a value that others see: a line of the log, or the published state. */
	readonly topic?: "log" | "state";
}

/** Cancels a call of a child workflow. */
export interface CancelCall {
	readonly kind: "cancel";
	/** Id of that call. */
	readonly of: string;
}

/** Begins the code again with this input. */
export interface ContinueCall {
	readonly kind: "continue";
	readonly input: string;
}

/** A wait for a time, or for an event. */
export interface WaitCall {
	readonly kind: "wait";
	/** Returns the end of the wait in milliseconds since the epoch; undefined if it has none. */
	until(now: number): number | undefined;
	readonly event: string | undefined;
}

/** A call to a tool: one of the workflow's own, a sub-agent, or a request to a person. */
export interface ToolCallOfFlow {
	readonly kind: "tool";
	readonly toolName: string;
	/** Returns the arguments, given the id of the call. */
	arguments(id: string): Record<string, unknown>;
	/** For a model call: the work that the arguments do not describe. */
	readonly work?: ModelWork;
}

/** How a tool call ended, as the code's operations receive it. */
export interface ToolOutcomeOfFlow {
	readonly outcome: ToolCallOutcome;
	readonly result: unknown;
	readonly approved?: boolean;
}

export type FlowCall = StepCall | ValueCall | WaitCall | ToolCallOfFlow | CancelCall | ContinueCall;
