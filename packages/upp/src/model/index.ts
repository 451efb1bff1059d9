// The entry point of the model port: the interface of a provider, and its creation.

export { mostCalls } from "./check-calls.ts";
export { checkStreamEvent } from "./check-event.ts";
export { checkResponse } from "./check-response.ts";
export { checkedModel, markChecked } from "./checked-model.ts";
export { createProvider, type ProviderOptions } from "./create-provider.ts";
export type {
	BoundLLMModel,
	KeyStrategy,
	LLMCapabilities,
	LLMHandler,
	LLMRequest,
	LLMResponse,
	LLMStreamResult,
	ProviderConfig,
	RetryInfo,
	RetryStrategy,
} from "./model-port.ts";
export { isRetrying, markRetrying } from "./own-retries.ts";
export type { CacheBreakpoint, CacheLifetime, PromptCache, PromptCacheControl } from "./prompt-cache.ts";
export type { ModelReference, Provider, ProviderModalities } from "./provider.ts";
export {
	hasCachedPart,
	hasOwnBreakpoint,
	readSystem,
	type System,
	type SystemPart,
	setSystem,
	textOfSystem,
} from "./system.ts";
