// Where a history may be cut, and which summary stands for which part of it.
import { isToolResultMessage, isUserMessage, type Message, type UserMessage } from "@holdfast/upp";
import type { EstimateTokens } from "../middleware/estimate-tokens.ts";

/** Summaries of so many sessions are kept; the one used longest ago goes first (keeps I7). */
const keptSummaries = 1_000;

/** How many messages stand before the part that stays: at most `keepRecent` messages and so many tokens of it. */
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
	// A result must not lose its call.
	while (cut > 0 && isToolResultMessage(messages[cut])) cut--;
	return cut;
}

/** A summary and what it stands for. */
export interface Summarised {
	/** How many messages at the beginning it stands for. */
	readonly cut: number;
	readonly summary: UserMessage;
	/** The messages with the summary in place of those. The user's last message is shown in any case. */
	view(messages: readonly Message[]): readonly Message[];
}

/** The summaries of the sessions that an agent works on. */
export class SummaryCache {
	readonly #summaries = new Map<string, Summarised & { readonly covered: readonly Message[] }>();
	/** The user's last message when a summary failed, by session. */
	readonly #failures = new Map<string, string | undefined>();

	/** The summary that stands for the beginning of these messages; none when that was changed. */
	of(sessionKey: string, messages: readonly Message[]): Summarised | undefined {
		const known = this.#summaries.get(sessionKey);
		if (known === undefined) return undefined;
		if (!known.covered.every((message, at) => isSame(message, messages[at]))) {
			this.#summaries.delete(sessionKey);
			return undefined;
		}
		return this.remember(sessionKey, messages, known.cut, known.summary);
	}

	remember(sessionKey: string, messages: readonly Message[], cut: number, summary: UserMessage): Summarised {
		const summarised = { cut, summary, covered: messages.slice(0, cut), view: viewOf(cut, summary) };
		this.#summaries.delete(sessionKey);
		limited(this.#summaries).set(sessionKey, summarised);
		this.#failures.delete(sessionKey);
		return summarised;
	}

	/** Not tried again in this turn: every call of the model would wait for it once more. */
	failed(sessionKey: string, messages: readonly Message[]): void {
		limited(this.#failures).set(sessionKey, messages.findLast(isUserMessage)?.id);
	}

	failedInThisTurn(sessionKey: string, messages: readonly Message[]): boolean {
		const failed = this.#failures.has(sessionKey);
		return failed && this.#failures.get(sessionKey) === messages.findLast(isUserMessage)?.id;
	}
}

function viewOf(cut: number, summary: UserMessage): Summarised["view"] {
	return (messages) => {
		const last = messages.findLastIndex(isUserMessage);
		const input = last >= 0 && last < cut ? [messages[last] as Message] : [];
		return [summary, ...input, ...messages.slice(cut)];
	};
}

/** The same message, also when it was read from the journal anew; an edited one has the same id and other content. */
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
