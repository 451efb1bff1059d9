// The entry point of retries: attempts with a time limit, strategies, and models that use them.

export { type CallContext, runAttempts, type Sleep } from "./attempts.ts";
export { type BackoffOptions, exponentialBackoff, noRetry } from "./backoff.ts";
export { charactersOf } from "./characters-of.ts";
export { cancelled, type Deadline } from "./deadline.ts";
export { retryingModel, toUnknownError } from "./retrying-model.ts";
export {
	type AnswerLimits,
	type AnswerToWatch,
	type WatchedAnswer,
	watchAnswer,
} from "./watch-answer.ts";
export { watchable, watchedModel } from "./watched-model.ts";
