// The observers' view of each run: its events, and the errors that models threw, unchanged.
import type { Caller } from "../caller/index.ts";
import type { RunEvent } from "../facts/index.ts";

/** A model call that failed. */
export interface FailedModelCall {
	/** The model that was called. */
	readonly modelId: string;
	/** The thrown error. */
	readonly error: unknown;
	/** Set if the model is called again: the number of the failed attempt, and the milliseconds until the next. */
	readonly retry?: { readonly attempt: number; readonly delayMs: number };
}

/** Observes one run. Must not throw. */
export interface RunObserver {
	/** Called with each event of the run, in order. */
	notify(event: RunEvent): void;
	/** Called for each model call that fails, including those that are retried. */
	modelFailed(call: FailedModelCall): void;
}

/** A run that is about to be driven. */
export interface ObservedRun {
	/** The key of its session; for a sub-agent, the key of the session that it works for. */
	readonly sessionKey: string;
	readonly runId: string;
	/** The requester of the run, if known. */
	readonly caller: Caller | undefined;
}

/** Called for each run that is driven in this process. Return undefined if you do not want to observe the run. */
export type ObserveRun = (run: ObservedRun) => RunObserver | undefined;
