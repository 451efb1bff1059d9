// One model call with its retries, its time limit and its cancelling: whatever the model does, the call settles
// (keeps I8), and every error that leaves is a UPPError.

import { isHoldfastError, isUPPError, UPPError } from "../errors/index.ts";
import type { LLMRequest, RetryStrategy } from "../model/index.ts";

/** Waits; ends early by rejecting when the signal fires. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** What a call needs to know about its model. */
export interface CallContext {
	/** The provider's name, for errors. */
	provider: string;
	/** Used where the request's config gives no strategy. */
	defaultStrategy: RetryStrategy | undefined;
	/** Turns whatever was thrown into a UPPError. */
	toError(thrown: unknown): UPPError;
	sleep?: Sleep;
}

/** One try. `started` says whether anything of it was handed out, after which it is not tried again. */
export interface Attempt<T> {
	run(signal: AbortSignal): PromiseLike<T>;
	started(): boolean;
}

/**
 * Runs an attempt until it succeeds, may not be retried, runs out of time or is cancelled.
 * @throws UPPError CANCELLED, TIMEOUT, or what the last attempt failed with.
 */
export async function runAttempts<T>(
	request: LLMRequest,
	context: CallContext,
	attempt: Attempt<T>,
): Promise<T> {
	const deadline = openDeadline(request, context.provider);
	try {
		return await Promise.race([tryAgain(request, context, attempt, deadline.signal), deadline.reached]);
	} catch (thrown) {
		throw deadline.error() ?? (isHoldfastError(thrown) ? thrown : context.toError(thrown));
	} finally {
		deadline.close();
	}
}

async function tryAgain<T>(
	request: LLMRequest,
	context: CallContext,
	attempt: Attempt<T>,
	signal: AbortSignal,
): Promise<T> {
	const strategy = request.config?.retryStrategy ?? context.defaultStrategy;
	const sleep = context.sleep ?? sleepOnTimers;
	for (let retry = 1; ; retry++) {
		const pause = (await strategy?.beforeRequest?.()) ?? 0;
		if (pause > 0) await sleep(pause, signal);
		signal.throwIfAborted();
		try {
			const outcome = await attempt.run(signal);
			strategy?.reset?.();
			return outcome;
		} catch (thrown) {
			// Errors of our own say that the call was set up wrongly: another try would end the same.
			const isOurs = isHoldfastError(thrown) && !isUPPError(thrown);
			if (isOurs || signal.aborted || attempt.started() || strategy === undefined) throw thrown;
			const error = context.toError(thrown);
			const delayMs = await strategy.onRetry(error, retry);
			if (delayMs === null || delayMs === undefined) throw error;
			request.onRetry?.({ attempt: retry, delayMs, error });
			await sleep(delayMs, signal);
		}
	}
}

interface Deadline {
	signal: AbortSignal;
	/** Rejects when the call must end; never resolves. */
	reached: Promise<never>;
	/** Why the call had to end, if it had to. */
	error(): UPPError | undefined;
	close(): void;
}

function openDeadline(request: LLMRequest, provider: string): Deadline {
	const controller = new AbortController();
	const given = request.signal;
	const timeout = request.config?.timeout;
	let error: UPPError | undefined;
	let reject: (error: UPPError) => void = () => {};
	const reached = new Promise<never>((_, rejectReached) => {
		reject = rejectReached;
	});
	reached.catch(() => {});
	const end = (reason: UPPError): void => {
		error ??= reason;
		controller.abort(error);
		reject(error);
	};
	const cancel = (): void => end(cancelled(provider, given?.reason));
	if (given?.aborted) cancel();
	given?.addEventListener("abort", cancel, { once: true });
	const timer =
		timeout === undefined
			? undefined
			: setTimeout(() => {
					const message = `The model call took longer than the ${timeout} ms that \`config.timeout\` allows.`;
					end(new UPPError(message, "TIMEOUT", provider, "llm"));
				}, timeout);
	return {
		signal: controller.signal,
		reached,
		error: () => error,
		close() {
			clearTimeout(timer);
			given?.removeEventListener("abort", cancel);
		},
	};
}

/** The error of a call that was cancelled. */
export function cancelled(provider: string, reason?: unknown): UPPError {
	return new UPPError("The model call was cancelled.", "CANCELLED", provider, "llm", undefined, reason);
}

/** Waits on the runtime's timers; rejects with the signal's reason as soon as it is aborted. */
export const sleepOnTimers: Sleep = (milliseconds, signal) =>
	new Promise((resolve, reject) => {
		const stop = (): void => {
			clearTimeout(timer);
			reject(signal.reason);
		};
		const timer = setTimeout(() => {
			signal.removeEventListener("abort", stop);
			resolve();
		}, milliseconds);
		if (signal.aborted) stop();
		else signal.addEventListener("abort", stop, { once: true });
	});
