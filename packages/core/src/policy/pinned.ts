// Pinned messages: messages of the user that stay in the model's view when a window or a summary drops what is around
// them. The pin is stored in the message's metadata, so it survives restarts, forks and other processes.
import { type ContentBlock, isUserMessage, type Message, UserMessage } from "@holdfast/upp";
import { List } from "../state/index.ts";
import type { AssembledRequest } from "./assembled-request.ts";

/**
 * Creates a user message that windows and summaries keep in the model's view, such as the goal of a long session. The
 * most recent pinned messages are kept: `slidingWindow` keeps as many as its `max`, in addition to it; `summarise`,
 * `compaction` and `slidingWindow` with `maxTokens` keep those that fit into a quarter of their limit. Other messages cannot be pinned.
 *
 * @param content text, or blocks such as text and images.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { Agent } from "holdfast";
 * import { pinned, slidingWindow } from "holdfast/middleware";
 *
 * const clerk = new Agent({ model: openai("gpt-5.2"), middleware: [slidingWindow({ max: 40, block: 20 })] });
 * await clerk.session("trip").send(pinned("We must be home by Sunday."));
 */
export function pinned(content: string | ContentBlock[]): UserMessage {
	return new UserMessage(content as never, { metadata: { holdfast: { pinned: true } } });
}

/** Whether a message stays in the model's view. */
export function isPinned(message: Message): boolean {
	return message.metadata?.holdfast?.pinned === true && isUserMessage(message);
}

/** Returns the most recent pinned messages, in order, as long as `fits` accepts each. */
export function pinnedOf(
	messages: readonly Message[],
	fits: (message: Message) => boolean,
): readonly Message[] {
	const pins: Message[] = [];
	for (let at = messages.length - 1; at >= 0; at--) {
		const message = messages[at] as Message;
		if (!isPinned(message)) continue;
		if (!fits(message)) break;
		pins.unshift(message);
	}
	return pins;
}

/** The positions of the pinned messages of a history. Each message of a growing history is looked at once (keeps I5). */
export class PinnedPositions {
	#known: List<Message> = List.empty();
	#positions: number[] = [];

	/** `request`: the request that the messages are for; undefined if they are not those of a session. */
	of(messages: readonly Message[], request: AssembledRequest | undefined): readonly number[] {
		const history = request?.isHistory(messages) === true ? request.history : undefined;
		const from = history?.beginsWith(this.#known) === true ? this.#known.length : 0;
		if (from === 0) this.#positions = [];
		for (let at = from; at < messages.length; at++)
			if (isPinned(messages[at] as Message)) this.#positions.push(at);
		this.#known = history ?? List.empty();
		return this.#positions;
	}
}

/** Returns the most recent pinned messages that a window has dropped, in order, as long as `fits` accepts each. */
export function pinnedBefore(
	messages: readonly Message[],
	positions: readonly number[],
	{ from, question }: { readonly from: number; readonly question?: number },
	fits: (message: Message) => boolean,
): readonly Message[] {
	const pins: Message[] = [];
	for (let index = positions.length - 1; index >= 0; index--) {
		const at = positions[index] as number;
		if (at >= from || at === question) continue;
		const message = messages[at] as Message;
		if (!fits(message)) break;
		pins.push(message);
	}
	return pins.reverse();
}

/** Accepts messages up to a sum of tokens. */
export function upTo(tokens: number, estimate: (message: Message) => number): (message: Message) => boolean {
	let left = tokens;
	return (message) => {
		left -= estimate(message);
		return left >= 0;
	};
}
