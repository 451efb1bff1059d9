// Applies a request's use of the prompt cache to the AI SDK's call options: breakpoints for Anthropic, keys for OpenAI
// and Azure. Nothing that other requests share is changed: what gets a breakpoint is copied.

import type { PromptCache, PromptCacheControl } from "../model/index.ts";
import type { AISDKMetadata, CallOptions, PromptMessage } from "./language-model-types.ts";

/** Names such as `anthropic.messages` and `vertex.anthropic.messages`. */
const withBreakpoints = /^(?:[\w-]+\.)?anthropic(?:\.|$)/;

/** Names such as `openai.responses`, but not `openai-compatible`. */
const withKeys = /^(?:openai|azure|azure-openai)(?:\.|$)/;

/** Returns how requests control the cache of a provider; undefined if they cannot. */
export function promptCacheOf(provider: string): PromptCacheControl | undefined {
	if (withBreakpoints.test(provider)) return "breakpoints";
	return withKeys.test(provider) ? "key" : undefined;
}

/** Parts of system prompts that end with a breakpoint. */
export const withCachedPart: WeakSet<PromptMessage> = new WeakSet();

/** Whether the caller has set a breakpoint on a message, one of its parts, or a tool. */
export function hasBreakpoint(given: unknown): boolean {
	const { providerOptions, content } = given as Partial<PromptMessage>;
	const own = providerOptions?.anthropic;
	if (own !== undefined && (own.cacheControl ?? own.cache_control) !== undefined) return true;
	return Array.isArray(content) && content.some(hasBreakpoint);
}

/**
 * Adds breakpoints, or the key, to the options of a call. The prompt must be a separate array. Own breakpoints of the
 * caller take precedence: a request that has any gets no others, because their number and order are limited.
 */
export function applyPromptCache(
	options: CallOptions,
	cache: PromptCache,
	provider: string,
	hasOwn: boolean,
): void {
	const control = promptCacheOf(provider);
	if (control === "key") applyKey(options, cache);
	if (control !== "breakpoints" || hasOwn || options.providerOptions?.anthropic?.cacheControl !== undefined)
		return;
	const { breakpoints = [], lifetime } = cache;
	const cacheControl = { type: "ephemeral", ...(lifetime === undefined ? {} : { ttl: lifetime }) };
	const { prompt } = options;
	let first = 0;
	let hasCachedPart = false;
	for (; prompt[first]?.role === "system"; first++) {
		if (!withCachedPart.has(prompt[first] as PromptMessage)) continue;
		hasCachedPart = true;
		markAt(prompt, first, cacheControl);
	}
	// The tools precede the system prompt, so a breakpoint in it covers them.
	if (!hasCachedPart && breakpoints.includes("tools") && options.tools !== undefined)
		options.tools = withToolBreakpoint(options.tools, cacheControl);
	if (!hasCachedPart && breakpoints.includes("instructions") && first > 0)
		markAt(prompt, first - 1, cacheControl);
	if (!breakpoints.includes("tail")) return;
	let tail = prompt.length - (cache.lastIs === "ephemeral" ? 2 : 1);
	if (tail >= first) markAt(prompt, tail, cacheControl);
	// The end of the previous request: a provider looks back only twenty blocks for what it has stored.
	while (tail >= first && prompt[tail]?.role !== "assistant") tail--;
	while (tail >= first && prompt[tail]?.role === "assistant") tail--;
	if (tail >= first) markAt(prompt, tail, cacheControl);
}

function applyKey(options: CallOptions, { key, lifetime }: PromptCache): void {
	const given: AISDKMetadata = options.providerOptions ?? {};
	const added = {
		...(key === undefined ? {} : { promptCacheKey: key }),
		...(lifetime === undefined ? {} : { promptCacheRetention: lifetime }),
	};
	options.providerOptions = { ...given, openai: { ...added, ...given.openai } };
}

function markAt(prompt: PromptMessage[], at: number, cacheControl: object): void {
	prompt[at] = marked(prompt[at] as PromptMessage, cacheControl);
}

/** Marks the last function tool: provider tools have no options, and deferred tools are not in the cached beginning. */
function withToolBreakpoint(tools: readonly unknown[], cacheControl: object): unknown[] {
	const at = (tools as readonly Partial<PromptMessage & { readonly type: string }>[]).findLastIndex(
		({ type, providerOptions }) => type === "function" && providerOptions?.anthropic?.deferLoading !== true,
	);
	return at < 0 ? [...tools] : tools.with(at, marked(tools[at] as PromptMessage, cacheControl));
}

function marked<Part extends { providerOptions?: AISDKMetadata }>(part: Part, cacheControl: object): Part {
	const given = part.providerOptions ?? {};
	return { ...part, providerOptions: { ...given, anthropic: { ...given.anthropic, cacheControl } } };
}
