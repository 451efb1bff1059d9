// How a request uses the prompt cache of its provider.

/**
 * How a provider's prompt cache is controlled. `breakpoints`: the request marks the ends of the parts to store, as with
 * Anthropic. `key`: requests with the same key share a cache, as with OpenAI. Other providers have no control.
 */
export type PromptCacheControl = "breakpoints" | "key";

/** A part of a request that can end with a breakpoint; `tail` is the end of the history. */
export type CacheBreakpoint = "tools" | "instructions" | "tail";

/** How long a provider keeps a stored part. Providers with breakpoints offer `5m` and `1h`, providers with keys `24h`. */
export type CacheLifetime = "5m" | "1h" | "24h";

/** How a request uses the prompt cache of its provider. */
export interface PromptCache {
	/** The parts that end with a breakpoint. Only for providers with breakpoints. */
	readonly breakpoints?: readonly CacheBreakpoint[];
	/** Requests with the same key share a cache. Only for providers with keys. */
	readonly key?: string;
	/** Default: the provider's own. */
	readonly lifetime?: CacheLifetime;
	/** Set if the last message belongs to this request only, so that the tail ends before it. */
	readonly lastIs?: "ephemeral";
}
