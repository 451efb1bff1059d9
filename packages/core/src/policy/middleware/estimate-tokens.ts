// Estimates the tokens of a message: about four characters of its JSON per token.
import type { ContentBlock, Message } from "@holdfast/upp";

/** Estimates the tokens of one message. */
export type EstimateTokens = (message: Message) => number;

/** Messages are immutable, so each is converted to JSON only once. */
const known = new WeakMap<Message, number>();

/** The estimate of one image, file or sound: the size of its data says little about its tokens. */
const tokensOfMedia = 1_500;

/** Counts four characters of JSON as a token. The data of an image or file counts as 1,500 tokens, whatever its size. */
export const estimateTokens: EstimateTokens = (message) => {
	let tokens = known.get(message);
	if (tokens === undefined) {
		tokens = estimateOf(message);
		known.set(message, tokens);
	}
	return tokens;
};

function estimateOf(message: Message): number {
	const { content } = message as { readonly content?: readonly ContentBlock[] };
	const media = content?.filter(isMedia).length ?? 0;
	if (media === 0) return JSON.stringify(message).length / 4;
	const { id, type, timestamp, metadata, toolCalls } = message as Message & { readonly toolCalls?: unknown };
	const rest = {
		type,
		id,
		timestamp,
		content: content?.filter((block) => !isMedia(block)),
		metadata,
		toolCalls,
	};
	return JSON.stringify(rest).length / 4 + media * tokensOfMedia;
}

function isMedia(block: ContentBlock): boolean {
	if (block.type === "text" || block.type === "reasoning") return false;
	return block.type !== "document" || block.source.type !== "text";
}

/** Sums the tokens of all messages. */
export function sumTokens(messages: readonly Message[], estimate: EstimateTokens): number {
	let total = 0;
	for (const message of messages) total += estimate(message);
	return total;
}
