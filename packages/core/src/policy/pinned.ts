// Pinned messages: messages of the user that stay in the model's view when a window or a summary drops what is around
// them. The pin is stored in the message's metadata, so it survives restarts, forks and other processes.
import { type ContentBlock, isUserMessage, type Message, UserMessage } from "@holdfast/upp";

/**
 * Creates a user message that windows and summaries keep in the model's view, such as the goal of a long session. The
 * most recent pinned messages are kept: `slidingWindow` keeps as many as its `max`, in addition to it; `summarise` and
 * `compaction` keep those that fit into a quarter of their limit. Other messages cannot be pinned.
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

/** Accepts messages up to a sum of tokens. */
export function upTo(tokens: number, estimate: (message: Message) => number): (message: Message) => boolean {
	let left = tokens;
	return (message) => {
		left -= estimate(message);
		return left >= 0;
	};
}
