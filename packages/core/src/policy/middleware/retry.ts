// A model that retries if it fails before producing output.
import {
	type BoundLLMModel,
	checkOptions,
	type LLMRequest,
	type ModelReference,
	optionNames,
	readDuration,
	type Sleep,
	type UPPError,
	delay as waitFor,
} from "@holdfast/upp";
import { readCount } from "./read-options.ts";
import { completeWith, findModel, type GivenModel, referenceTo, streamWith } from "./wrapped-model.ts";

/** Options of `retry`. */
export interface RetryOptions {
	/** The maximum number of attempts, including the first. Default 3. */
	readonly attempts?: number;
	/**
	 * Milliseconds before the next attempt, or a function of the number of failed attempts and the error. Default: as
	 * long as the provider asks for; otherwise 500, doubling each time, at most 30,000.
	 */
	readonly delay?: number | ((failed: number, error: UPPError) => number);
	/** Whether to retry after an error. Default: `error.retryable`. */
	readonly when?: (error: UPPError) => boolean;
	/** The function that waits. Default: timers. */
	readonly sleep?: Sleep;
}

const retryNames = optionNames<RetryOptions>({
	attempts: true,
	delay: true,
	when: "function",
	sleep: "function",
});

/**
 * Creates a model that retries another one if it fails before producing output. The model's own retries are disabled:
 * `attempts` is the total number of calls. A cancelled call is not retried.
 *
 * @throws HoldfastError `invalid_option`, `invalid_model`, `provider_not_called`, `no_language_model`.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * const clerk = agent({ model: retry(openai("gpt-5.2"), { attempts: 5 }) });
 */
export function retry(model: GivenModel, options: RetryOptions = {}): ModelReference {
	checkOptions(options, retryNames, {
		of: "retry()",
		instead: {
			maxRetries: "`attempts` is the number of calls, the first one included.",
			retries: "`attempts` is the number of calls, the first one included.",
		},
	});
	const found = findModel(model);
	const attempts = readCount(options.attempts ?? 3, "attempts", 1);
	const { delay: given = defaultDelay } = options;
	const delay = typeof given === "function" ? given : readDuration("delay", given, given, { least: 0 });
	const { when = (error) => error.retryable, sleep = waitFor } = options;
	const next = async (
		bound: BoundLLMModel,
		failed: number,
		error: UPPError,
		request: LLMRequest,
	): Promise<BoundLLMModel | undefined> => {
		if (failed >= attempts || !when(error)) return undefined;
		const delayMs = typeof delay === "function" ? delay(failed, error) : delay;
		request.onRetry?.({ attempt: failed, delayMs, error });
		if (delayMs > 0) await sleep(delayMs, request.signal ?? never);
		return bound;
	};
	return referenceTo(found.provider, found.modelId, () => {
		const bound = found.bind();
		const asked = {
			first: bound,
			provider: found.provider,
			retries: "none" as const,
			next: (failed: number, error: UPPError, request: LLMRequest) => next(bound, failed, error, request),
		};
		return {
			modelId: bound.modelId,
			capabilities: bound.capabilities,
			complete: (request) => completeWith(asked, request),
			stream: (request) => streamWith(asked, request),
		};
	});
}

function defaultDelay(failed: number, error: UPPError): number {
	return error.retryAfterMs ?? Math.min(30_000, 500 * 2 ** (failed - 1));
}

const never = new AbortController().signal;
