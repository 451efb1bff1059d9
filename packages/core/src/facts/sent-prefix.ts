// The beginning of the last answered request, and the changes made to it since (part of evolve, keeps
// I2). Providers cache a prompt from its beginning: after a change, they read everything behind it again.

/**
 * Why a request does not begin like the previous one. `edited`: a message of the history was edited or deleted, or the
 * history was cut. `files`: files that the provider refused are no longer shown. `view`: middleware, a plugin or a
 * temporary message shows the model another history. `agent`: an earlier release recorded a change without details.
 */
export type CacheBreakReason = "model" | "instructions" | "tools" | "agent" | "edited" | "files" | "view";

/** A request that does not begin like the previous one: its provider's cache is of use only before the change. */
export interface CacheBreak {
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

/** The beginning that the last answered request of a session had. */
export interface SentPrefix {
	/** The agent's fingerprint. */
	readonly fingerprint: string;
	/** The number of messages; those of the view, if there was one. */
	readonly length: number;
	readonly view?: SentView;
	/** The changes made to it since. */
	readonly changed?: CacheBreak;
}

/** Returns the prefix after an answer. */
export function sentBy(fingerprint: string, length: number, view: SentView | undefined): SentPrefix {
	return view === undefined ? { fingerprint, length } : { fingerprint, length: view.length, view };
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
