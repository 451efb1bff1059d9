// Marks models that apply `config.retryStrategy` and `config.timeout` themselves.

import type { BoundLLMModel } from "./model-port.ts";

const retrying = new WeakSet<BoundLLMModel>();

/** Marks a model that applies the retry strategy and the time limit of a request itself. */
export function markRetrying(model: BoundLLMModel): BoundLLMModel {
	retrying.add(model);
	return model;
}

/** Whether a model has this mark. */
export function isRetrying(model: BoundLLMModel): boolean {
	return retrying.has(model);
}
