// Estimates the tokens of a message: about four characters of its JSON per token.
import type { Message } from "@holdfast/upp";

/** Estimates the tokens of one message. */
export type EstimateTokens = (message: Message) => number;

/** Messages are immutable, so each is converted to JSON only once. */
const known = new WeakMap<Message, number>();

/** Counts four characters of JSON as a token. Media count by the length of their base64 text. */
export const estimateTokens: EstimateTokens = (message) => {
	let tokens = known.get(message);
	if (tokens === undefined) {
		tokens = JSON.stringify(message).length / 4;
		known.set(message, tokens);
	}
	return tokens;
};

/** Sums the tokens of all messages. */
export function sumTokens(messages: readonly Message[], estimate: EstimateTokens): number {
	let total = 0;
	for (const message of messages) total += estimate(message);
	return total;
}
