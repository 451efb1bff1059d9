// The beginning of the last answered request, and the changes made to it since (part of evolve, keeps
// I2). Providers cache a prompt from its beginning: after a change, they read everything behind it again. Also the size of
// that request, as the provider counted it and as it was estimated.
import type { TokenUsage } from "@holdfast/upp";

/**
 * Why a request does not begin like the previous one. `edited`: a message of the history was edited or deleted, or the
 * history was cut. `files`: files that the provider refused are no longer shown. `view`: middleware, a plugin or a
 * temporary message shows the model another history. `agent`: an earlier release recorded a change without details.
 */
export type CacheBreakReason = "model" | "instructions" | "tools" | "agent" | "edited" | "files" | "view";

/** A request that does not begin like the previous one: its provider's cache is of use only before the change. */
export interface CacheBreak {
	/** The parts that changed. */
	readonly reasons: readonly CacheBreakReason[];
	/** How many messages at the beginning are unchanged; 0 if the tools or instructions before them have changed. */
	readonly from: number;
}

/** A history other than the journal's own that policy showed the model. */
export interface SentView {
	/** The number of messages. */
	readonly length: number;
	/** The hash of their content. */
	readonly hash: string;
}

/** The tokens of a request, as its provider counted them and as policy estimated them. */
export interface CountedRequest {
	/** As the provider counted them. */
	readonly tokens: number;
	/** As policy estimated them. */
	readonly estimate: number;
}

/**
 * Where each policy has shortened the history, by its name: for a window, the id of the first message that it keeps; for a
 * summary, its hash. A policy keeps its place until it has to move it, so that the beginning of requests stays the same.
 */
export type ViewCuts = Readonly<Record<string, string>>;

/** The beginning that the last answered request of a session had. */
export interface SentPrefix {
	/** The agent's fingerprint. */
	readonly fingerprint: string;
	/** The number of messages; those of the view, if there was one. */
	readonly length: number;
	/** The history that policy showed, if not the journal's. */
	readonly view?: SentView;
	/** The changes made to it since. */
	readonly changed?: CacheBreak;
	/** The size of the last request that was both counted and estimated. */
	readonly counted?: CountedRequest;
	/** Where policy had shortened the history. */
	readonly cuts?: ViewCuts;
}

/** The parts of an answer that describe its request. */
export interface SentRequest {
	readonly usage: TokenUsage;
	readonly view?: SentView;
	readonly estimate?: number;
	readonly cuts?: ViewCuts;
}

/** Returns the prefix after an answer. */
export function sentBy(
	before: SentPrefix | undefined,
	fingerprint: string,
	contextLength: number,
	{ view, usage, estimate, cuts: moved }: SentRequest,
): SentPrefix {
	const sent: { -readonly [Name in keyof SentPrefix]: SentPrefix[Name] } =
		view === undefined ? { fingerprint, length: contextLength } : { fingerprint, length: view.length, view };
	const counted = estimate === undefined ? before?.counted : countedBy(usage, estimate, before?.counted);
	if (counted !== undefined) sent.counted = counted;
	const cuts = moved === undefined ? before?.cuts : { ...before?.cuts, ...moved };
	if (cuts !== undefined) sent.cuts = cuts;
	return sent;
}

/** A count of less than a token per 32 characters is not that of the whole request. */
const leastPerEstimate = 1 / 8;

/** Returns the size of a request. A provider that counts nothing leaves that of the previous one. */
function countedBy(
	{ inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: TokenUsage,
	estimate: number,
	before: CountedRequest | undefined,
): CountedRequest | undefined {
	// Some providers count only what they did not read from their cache.
	const apart = cacheReadTokens > inputTokens ? cacheReadTokens + cacheWriteTokens : 0;
	const tokens = inputTokens + apart;
	if (!(tokens > 0)) return before;
	return tokens < estimate * leastPerEstimate ? undefined : { tokens, estimate };
}

/** Returns two changes as one. */
export function joinedBreak(before: CacheBreak | undefined, next: CacheBreak): CacheBreak {
	if (before === undefined) return next;
	return {
		reasons: [...new Set([...before.reasons, ...next.reasons])],
		from: Math.min(before.from, next.from),
	};
}

/**
 * Returns the prefix after the messages from a position on were changed. Messages after those of the last request were
 * not sent yet; what a view shows of them is compared with the next request.
 */
export function changedFrom(
	sent: SentPrefix | undefined,
	from: number,
	reason: CacheBreakReason,
): SentPrefix | undefined {
	if (sent === undefined || (sent.view === undefined && from >= sent.length)) return sent;
	return { ...sent, changed: joinedBreak(sent.changed, { reasons: [reason], from }) };
}
