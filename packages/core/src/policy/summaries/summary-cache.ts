// Where a history may be cut, and which summary represents which part of it.
import { isToolResultMessage, isUserMessage, type Message, type UserMessage } from "@holdfast/upp";
import type { EstimateTokens } from "../middleware/estimate-tokens.ts";
import type { Beginning } from "./kept-summary.ts";

/** Summaries of this many sessions are kept; the least recently used one is evicted first (keeps I7). */
const keptSummaries = 1_000;

/**
 * Returns how many messages precede the kept part, which has at most `keepRecent` messages and the given number of
 * tokens.
 */
export function cutBefore(
	messages: readonly Message[],
	limits: { readonly keepRecent: number; readonly tokens: number; readonly estimate: EstimateTokens },
): number {
	const least = Math.max(0, messages.length - limits.keepRecent);
	let cut = messages.length - 1;
	let tokens = limits.estimate(messages[cut] as Message);
	while (cut > least) {
		tokens += limits.estimate(messages[cut - 1] as Message);
		if (tokens > limits.tokens) break;
		cut--;
	}
	// A result must not be separated from its call.
	while (cut > 0 && isToolResultMessage(messages[cut])) cut--;
	return cut;
}

/** A summary and what it represents. */
export interface Summarised extends Beginning {
	readonly summary: UserMessage;
	/** Returns the messages with the summary in place of those it represents. The user's last message is always shown. */
	view(messages: readonly Message[]): readonly Message[];
}

/** A summary with the messages it represents. */
interface Covering extends Summarised {
	readonly covered: readonly Message[];
}

/** The summaries of the sessions that an agent works on. */
export class SummaryCache {
	readonly #pinned: (old: readonly Message[]) => readonly Message[];
	readonly #summaries = new Map<string, Covering>();
	/** The user's last message when a summary failed, by session. */
	readonly #failures = new Map<string, string | undefined>();

	constructor(pinned: (old: readonly Message[]) => readonly Message[]) {
		this.#pinned = pinned;
	}

	/** Returns the summary that represents the beginning of these messages; undefined if that beginning was changed. */
	of(sessionKey: string, messages: readonly Message[]): Summarised | undefined {
		const known = this.#summaries.get(sessionKey);
		if (known === undefined) return undefined;
		const { covered, cut } = known;
		if (firstOther(covered, messages) === cut) return this.#keep(sessionKey, known);
		if (covered.every((message, at) => isSame(message, messages[at])))
			return this.#keep(sessionKey, { ...known, covered: messages.slice(0, cut) });
		this.#summaries.delete(sessionKey);
		return undefined;
	}

	remember(
		sessionKey: string,
		messages: readonly Message[],
		written: Beginning & { readonly summary: UserMessage },
	): Summarised {
		this.#failures.delete(sessionKey);
		const { cut, summary } = written;
		const covered = messages.slice(0, cut);
		return this.#keep(sessionKey, {
			...written,
			covered,
			view: viewOf(cut, [summary, ...this.#pinned(covered)]),
		});
	}

	/** Marks it as the most recently used. */
	#keep(sessionKey: string, summarised: Covering): Summarised {
		this.#summaries.delete(sessionKey);
		limited(this.#summaries).set(sessionKey, summarised);
		return summarised;
	}

	/** Records a failure. It is not retried in this turn, because every model call would wait for it again. */
	failed(sessionKey: string, messages: readonly Message[]): void {
		limited(this.#failures).set(sessionKey, messages.findLast(isUserMessage)?.id);
	}

	failedInThisTurn(sessionKey: string, messages: readonly Message[]): boolean {
		const failed = this.#failures.has(sessionKey);
		return failed && this.#failures.get(sessionKey) === messages.findLast(isUserMessage)?.id;
	}
}

/** `head`: the summary, and the pinned messages that it replaces. */
function viewOf(cut: number, head: readonly Message[]): Summarised["view"] {
	return (messages) => {
		const last = messages.findLastIndex(isUserMessage);
		const input = last >= 0 && last < cut ? [messages[last] as Message] : [];
		const isShown = head.at(-1)?.id === input[0]?.id;
		return [...head, ...(isShown ? [] : input), ...messages.slice(cut)];
	};
}

/**
 * Returns the index of the first message that is a different object. A plain loop, because it scans the whole history at
 * every call.
 */
function firstOther(covered: readonly Message[], messages: readonly Message[]): number {
	let at = 0;
	while (at < covered.length && covered[at] === messages[at]) at++;
	return at;
}

/**
 * Whether it is the same message, even if it was read again from the journal. An edited one has the same id and different
 * content.
 */
function isSame(one: Message, other: Message | undefined): boolean {
	if (one === other) return true;
	return one.id === other?.id && JSON.stringify(one) === JSON.stringify(other);
}

function limited<Value>(map: Map<string, Value>): Map<string, Value> {
	if (map.size < keptSummaries) return map;
	for (const oldest of map.keys()) {
		map.delete(oldest);
		break;
	}
	return map;
}
