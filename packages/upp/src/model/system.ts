// The system prompt of a request, as text or as parts: how it is checked, and how it is set.
import { HoldfastTypeError } from "../errors/index.ts";
import type { ProviderMetadata } from "../messages/index.ts";
import type { LLMRequest } from "./model-port.ts";

/** A part of a system prompt. */
export interface SystemPart {
	/** The text of the part. */
	readonly text: string;
	/** Passed to the provider with this part, by the provider's name. */
	readonly providerOptions?: ProviderMetadata;
	/**
	 * Ends with a breakpoint of the prompt cache, instead of the breakpoints after the tools and after the whole system
	 * prompt. At most two parts can have one. Only for providers with breakpoints; others are refused with
	 * `cache_unsupported`.
	 */
	readonly cache?: true;
}

/** A system prompt: text, or parts in the order in which they are sent. */
export type System = string | readonly SystemPart[];

/** Providers accept four breakpoints, and the end of the history takes two. */
const mostCached = 2;
const partNames: ReadonlySet<string> = new Set(["text", "providerOptions", "cache"]);

/**
 * Returns a copy of a system prompt, in which neighbouring parts without settings are joined. If no part has settings,
 * the result is a text.
 * @throws HoldfastTypeError `invalid_option` naming the fault. `what` names the prompt in the message.
 */
export function readSystem(given: unknown, what: string): System {
	if (typeof given === "string") return given;
	if (!Array.isArray(given))
		throw invalid(what, "must be a string, or a list of parts such as {text, cache: true}");
	const parts: SystemPart[] = [];
	for (const [at, each] of given.entries()) {
		const part = readPart(each, `${what}[${at}]`);
		const before = parts.at(-1);
		if (before !== undefined && isPlain(before) && isPlain(part))
			parts[parts.length - 1] = { text: joined([before, part]) };
		else parts.push(part);
	}
	const cached = parts.filter(({ cache }) => cache === true);
	if (cached.length > mostCached)
		throw invalid(what, `has ${cached.length} parts with \`cache\`, and at most ${mostCached} can have it`);
	if (cached.length > 0 && parts.some(hasOwnBreakpoint))
		throw invalid(
			what,
			"has a part with `cache` and a part with a breakpoint in `providerOptions`; set one of them",
		);
	return parts.every(isPlain) ? joined(parts) : parts;
}

function readPart(given: unknown, what: string): SystemPart {
	if (typeof given !== "object" || given === null || Array.isArray(given))
		throw invalid(what, "must be an object {text, providerOptions, cache}");
	const { text, providerOptions, cache } = given as { readonly [Name in keyof SystemPart]: unknown };
	const unknown = Object.keys(given).find((name) => !partNames.has(name));
	if (unknown !== undefined)
		throw invalid(what, `has a member "${unknown}"; its members are text, providerOptions, cache`);
	if (typeof text !== "string") throw invalid(what, "must have a string as `text`");
	if (cache !== undefined && cache !== true) throw invalid(what, "must have `cache: true`, or no `cache`");
	if (cache === true && text.trim() === "") throw invalid(what, "has `cache` and no text");
	if (providerOptions !== undefined && !isOptions(providerOptions))
		throw invalid(what, "must have `providerOptions` by the name of a provider, such as {anthropic: {...}}");
	return {
		text,
		...(providerOptions === undefined ? {} : { providerOptions: providerOptions as ProviderMetadata }),
		...(cache === undefined ? {} : { cache }),
	};
}

function isOptions(given: unknown): boolean {
	const isRecord = (value: unknown): boolean =>
		typeof value === "object" && value !== null && !Array.isArray(value);
	return isRecord(given) && Object.values(given as object).every(isRecord);
}

function isPlain({ providerOptions, cache }: SystemPart): boolean {
	return providerOptions === undefined && cache === undefined;
}

/** Whether the caller has set a breakpoint in the part's own options. */
export function hasOwnBreakpoint({ providerOptions }: SystemPart): boolean {
	const own = providerOptions?.anthropic;
	return (own?.cacheControl ?? own?.cache_control) !== undefined;
}

/** A run sends the same parts with each of its requests, so they are joined only once. */
const texts = new WeakMap<readonly SystemPart[], string>();

/** Returns a system prompt as one text. */
export function textOfSystem(system: System): string {
	if (typeof system === "string") return system;
	const known = texts.get(system);
	if (known !== undefined) return known;
	const text = joined(system);
	texts.set(system, text);
	return text;
}

function joined(parts: readonly SystemPart[]): string {
	return parts
		.map(({ text }) => text)
		.filter((text) => text !== "")
		.join("\n\n");
}

/** Whether a part of a system prompt ends with a breakpoint. */
export function hasCachedPart(system: System | undefined): boolean {
	return typeof system === "object" && system.some(({ cache }) => cache === true);
}

/** Sets the system prompt of a request. */
export function setSystem(sent: LLMRequest, system: System): void {
	sent.system = textOfSystem(system);
	if (typeof system === "object") sent.systemParts = system;
	else if (sent.systemParts !== undefined) delete sent.systemParts;
}

function invalid(what: string, why: string): HoldfastTypeError {
	return new HoldfastTypeError("invalid_option", `The option \`${what}\` ${why}.`);
}
