// One model call with its retries, time limit and cancellation: the call always settles, whatever the model does (keeps
// I8), and every error has a code.

import { isHoldfastError, isUPPError, type UPPError } from "../errors/index.ts";
import type { LLMRequest, RetryStrategy } from "../model/index.ts";
import { delay } from "../time/index.ts";
import { Deadline } from "./deadline.ts";

/** Waits. Rejects early when the signal fires. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** The parts of a call that concern its model. */
export interface CallContext {
	/** The provider's name, for errors. */
	provider: string;
	/** Used if the request's config has no strategy. */
	defaultStrategy: RetryStrategy | undefined;
	/** Converts a thrown value into a UPPError. */
	toError(thrown: unknown): UPPError;
	sleep?: Sleep;
}

/** One attempt. `started` returns whether any of it was emitted, after which it is not retried. */
export interface Attempt<T> {
	/** `deadline.signal` is the same signal. */
	run(signal: AbortSignal, deadline: Deadline): PromiseLike<T>;
	started(): boolean;
}

/**
 * Runs an attempt until it succeeds, may not be retried, runs out of time or is cancelled.
 * @throws UPPError CANCELLED, TIMEOUT, or the error of the last attempt.
 */
export function runAttempts<T>(request: LLMRequest, context: CallContext, attempt: Attempt<T>): Promise<T> {
	return new Promise((resolve, reject) => {
		const deadline = new Deadline(request, context.provider, reject);
		tryAgain(request, context, attempt, deadline).then(
			(outcome) => {
				deadline.close();
				resolve(outcome);
			},
			(thrown) => {
				deadline.close();
				reject(isHoldfastError(thrown) ? thrown : context.toError(thrown));
			},
		);
	});
}

async function tryAgain<T>(
	request: LLMRequest,
	context: CallContext,
	attempt: Attempt<T>,
	deadline: Deadline,
): Promise<T> {
	const strategy = request.config?.retryStrategy ?? context.defaultStrategy;
	const sleep = context.sleep ?? delay;
	for (let retry = 1; ; retry++) {
		if (strategy?.beforeRequest !== undefined) {
			const pause = await strategy.beforeRequest();
			if (pause > 0) await sleep(pause, deadline.signal);
		}
		deadline.signal.throwIfAborted();
		try {
			const outcome = await deadline.attempt(() => attempt.run(deadline.signal, deadline));
			strategy?.reset?.();
			return outcome;
		} catch (thrown) {
			// A HoldfastError means that the call was set up wrongly: a retry would fail the same way.
			const isOurs = isHoldfastError(thrown) && !isUPPError(thrown);
			if (isOurs || deadline.isOver || attempt.started() || strategy === undefined) throw thrown;
			deadline.renew();
			const error = context.toError(thrown);
			const delayMs = await strategy.onRetry(error, retry);
			if (delayMs === null || delayMs === undefined) throw error;
			request.onRetry?.({ attempt: retry, delayMs, error });
			await sleep(delayMs, deadline.signal);
		}
	}
}
