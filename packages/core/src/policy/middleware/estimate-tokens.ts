// How many tokens a message takes, guessed: about four characters of its JSON a token.
import type { Message } from "@holdfast/upp";

/** Guesses the tokens of one message. */
export type EstimateTokens = (message: Message) => number;

/** Messages do not change, so each is written as JSON once. */
const known = new WeakMap<Message, number>();

/** Four characters of JSON are a token. Media count by the length of their base64 text. */
export const estimateTokens: EstimateTokens = (message) => {
	let tokens = known.get(message);
	if (tokens === undefined) {
		tokens = JSON.stringify(message).length / 4;
		known.set(message, tokens);
	}
	return tokens;
};

/** The tokens of all messages together. */
export function sumTokens(messages: readonly Message[], estimate: EstimateTokens): number {
	let total = 0;
	for (const message of messages) total += estimate(message);
	return total;
}
