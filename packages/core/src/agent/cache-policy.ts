// The option `cache`: how an agent uses the prompt cache of its model's provider.
import {
	type CacheBreakpoint,
	type CacheLifetime,
	checkOptions,
	HoldfastError,
	HoldfastTypeError,
	type LLMCapabilities,
	optionNames,
} from "@holdfast/upp";
import type { EngineModel } from "../engine/index.ts";

/**
 * How an agent uses the prompt cache of its model's provider. Each member works with some providers only; where it has no
 * effect, it is refused with `cache_unsupported`.
 */
export interface CachePolicy {
	/**
	 * The parts of a request that end with a breakpoint, for Anthropic: the tools, the instructions, and the end of the
	 * history. Default: all three. A request in which you set a breakpoint yourself gets no others.
	 */
	readonly breakpoints?: readonly CacheBreakpoint[];
	/**
	 * How long the provider keeps what it has stored: `5m` or `1h` for Anthropic, `24h` for OpenAI. Longer lifetimes can
	 * cost more to write. Default: the provider's own.
	 */
	readonly lifetime?: CacheLifetime;
	/**
	 * Requests with the same key are routed to the same cache, for OpenAI. Default: a hash of the session's key; none for
	 * calls without a session.
	 */
	readonly key?: string;
}

/** The value of the option `cache`. */
export type CacheOption = "auto" | "off" | CachePolicy;

const policyNames = optionNames<CachePolicy>({ breakpoints: true, lifetime: true, key: true });

const parts: readonly CacheBreakpoint[] = ["tools", "instructions", "tail"];
const lifetimes = { breakpoints: ["5m", "1h"], key: ["24h"] } as const satisfies Record<
	string,
	readonly CacheLifetime[]
>;

/** @throws HoldfastError `invalid_option` for an invalid policy. */
export function checkCache(given: unknown): void {
	if (given === "auto" || given === "off") return;
	if (typeof given !== "object" || given === null || Array.isArray(given))
		throw invalid('The option `cache` must be "auto", "off" or {breakpoints, lifetime, key}.');
	checkOptions(given, policyNames, { of: "The option `cache`" });
	const { breakpoints, lifetime, key } = given as { readonly [Name in keyof CachePolicy]: unknown };
	const isList = Array.isArray(breakpoints) && breakpoints.length > 0;
	if (breakpoints !== undefined && !(isList && breakpoints.every((part) => parts.includes(part))))
		throw invalid(
			'The option `cache.breakpoints` must be a list of "tools", "instructions" and "tail". For no breakpoints, write `cache: "off"`.',
		);
	if (
		lifetime !== undefined &&
		!Object.values(lifetimes)
			.flat()
			.includes(lifetime as CacheLifetime)
	)
		throw invalid('The option `cache.lifetime` must be "5m", "1h" or "24h".');
	if (key !== undefined && (typeof key !== "string" || key === ""))
		throw invalid("The option `cache.key` must be a string that is not empty.");
}

/**
 * Returns how requests use the prompt cache; undefined if they do not.
 * @throws HoldfastError `cache_unsupported` if a policy has no effect with the model.
 */
export function cacheOf(
	option: CacheOption = "auto",
	{ promptCache: control }: LLMCapabilities,
	modelId: string,
): EngineModel["cache"] {
	if (option === "off") return undefined;
	const policy = option === "auto" ? {} : option;
	if (control === undefined) {
		if (option === "auto") return undefined;
		throw unsupported(modelId, "has no prompt cache that requests control", '`cache: "auto"`');
	}
	const { breakpoints, lifetime, key } = policy;
	if (control === "key" && breakpoints !== undefined)
		throw unsupported(modelId, "has no breakpoints", "`cache.key`");
	if (control === "breakpoints" && key !== undefined)
		throw unsupported(modelId, "has no keys of prompt caches", "`cache.breakpoints`");
	const known: readonly CacheLifetime[] = lifetimes[control];
	if (lifetime !== undefined && !known.includes(lifetime))
		throw unsupported(
			modelId,
			`does not keep a prompt cache for ${lifetime}`,
			known.map((each) => `\`lifetime: "${each}"\``).join(" or "),
		);
	return {
		...(control === "breakpoints" ? { breakpoints: breakpoints ?? parts } : { key: key ?? ofSession }),
		...(lifetime === undefined ? {} : { lifetime }),
	};
}

const ofSession = { of: "session" } as const;

function unsupported(modelId: string, why: string, instead: string): HoldfastError {
	return new HoldfastError(
		"cache_unsupported",
		`The option \`cache\` has no effect: the provider of "${modelId}" ${why}. Use ${instead}, or leave the option out.`,
		{ data: { modelId } },
	);
}

function invalid(message: string): HoldfastTypeError {
	return new HoldfastTypeError("invalid_option", message);
}
