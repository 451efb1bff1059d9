// A summary and the part of a history that it represents, and what the model is shown of it.
import {
	type AssistantMessage,
	isAssistantMessage,
	isToolResultMessage,
	isUserMessage,
	type Message,
} from "@holdfast/upp";
import type { List } from "../../state/index.ts";
import type { EstimateTokens } from "../middleware/estimate-tokens.ts";
import type { WrittenSummary } from "./kept-summary.ts";

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
	cut = Math.min(cut, unseenFrom(messages));
	// A result must not be separated from its call.
	while (cut > 0 && isToolResultMessage(messages[cut])) cut--;
	return cut;
}

/**
 * Returns the position of the last calls, whose results the model has not seen yet; the number of messages if the last
 * answer has no calls. Without them, the model would make the same calls again in each step.
 */
export function unseenFrom(messages: readonly Message[]): number {
	const last = messages.findLastIndex(isAssistantMessage);
	const { hasToolCalls = false } = (messages[last] ?? {}) as Partial<AssistantMessage>;
	return hasToolCalls ? last : messages.length;
}

/** A summary of a history's beginning. */
export class Covering {
	readonly written: WrittenSummary;
	#covered: List<Message>;
	/** The summary, and the pinned messages that it replaces. */
	readonly #head: readonly Message[];
	/** The user's last message that it replaces. */
	readonly #question: Message | undefined;
	/** The position of a message of the user after those it replaces, or the one up to which there is none. */
	#asked: { readonly at: number; readonly is: "found" | "none" };

	/**
	 * @param pinned returns the messages that are shown after the summary.
	 * @param before an earlier summary. What it represents is not read again (keeps I5).
	 */
	constructor(
		written: WrittenSummary,
		history: List<Message>,
		pinned: (old: readonly Message[]) => readonly Message[],
		before?: Covering,
	) {
		this.written = written;
		this.#covered = history.until(written.cut);
		const earlier = before !== undefined && this.#covered.beginsWith(before.#covered) ? before : undefined;
		const since = this.#covered.from(earlier?.written.cut ?? 0);
		const [pins, question] = earlier === undefined ? [[]] : [earlier.#head.slice(1), earlier.#question];
		this.#head = [written.summary, ...pinned([...pins, ...since])];
		this.#question = since.findLast(isUserMessage) ?? question;
		this.#asked = { at: written.cut, is: "none" };
	}

	/** Whether it represents the beginning of a history, which may have been read from the journal again. */
	covers(history: List<Message>): boolean {
		const covered = this.#covered;
		if (history.beginsWith(covered)) return true;
		if (history.length < covered.length) return false;
		const now = history.until(covered.length);
		const messages = now.from(0);
		if (!covered.from(0).every((message, at) => isSame(message, messages[at]))) return false;
		this.#covered = now;
		return true;
	}

	/** Returns the messages with the summary in place of those it represents. */
	view(messages: readonly Message[]): readonly Message[] {
		return [...this.head(messages), ...messages.slice(this.written.cut)];
	}

	/** Returns what is shown in place of the messages that it represents. The user's last message is always shown. */
	head(messages: readonly Message[]): readonly Message[] {
		const question = this.#question;
		const isHidden =
			question !== undefined && this.#head.at(-1)?.id !== question.id && !this.#isAsked(messages);
		return isHidden ? [...this.#head, question] : this.#head;
	}

	/** Whether there is a message of the user after those it replaces. Each message is looked at once (keeps I5). */
	#isAsked(messages: readonly Message[]): boolean {
		const { at: known, is } = this.#asked;
		if (is === "found" && known < messages.length && isUserMessage(messages[known] as Message)) return true;
		let at = is === "found" || known > messages.length ? this.written.cut : known;
		while (at < messages.length && !isUserMessage(messages[at] as Message)) at++;
		const found = at < messages.length;
		this.#asked = { at, is: found ? "found" : "none" };
		return found;
	}
}

/** Whether it is the same message, read again. An edited one has the same id and different content. */
function isSame(one: Message, other: Message | undefined): boolean {
	if (one === other) return true;
	return one.id === other?.id && JSON.stringify(one) === JSON.stringify(other);
}
