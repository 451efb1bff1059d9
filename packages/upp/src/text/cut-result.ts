// How much of a tool's result a model sees.
import { cutText } from "./cut-text.ts";

/** A model sees at most this many characters of a result by default: about 25,000 tokens. */
export const mostResultCharacters = 100_000;

const endCharacters = 20_000;
// The share of the limit that cutting at a line end may leave unused.
const GIVEN_AWAY = 0.2;

/**
 * Returns the text of a tool's result as a model sees it. A text that is longer than `limit` is cut after it, near the end
 * of a line. Without `limit`, a text of more than 100,000 characters keeps its beginning and its last 20,000. A note that
 * states the size is added on top of the limit.
 *
 * @param advice tells the model how to get the rest.
 */
export function cutResult(
	text: string,
	limit?: number | undefined,
	advice: string = "Ask for a smaller part to see more.",
): string {
	const most = limit ?? mostResultCharacters;
	if (text.length <= most) return text;
	const kept = `the whole output is kept in the session. ${advice}]`;
	const whole = grouped(text.length);
	if (limit !== undefined) {
		const shown = cutAtLineEnd(text, Math.floor(limit));
		return `${shown}\n[cut: ${grouped(shown.length)} of ${whole} characters shown; ${kept}`;
	}
	const start = cutAtLineEnd(text, most - endCharacters);
	const end = endOf(text, endCharacters);
	const omitted = `${grouped(start.length)} to ${grouped(text.length - end.length)} of ${whole}`;
	return `${start}\n[cut: characters ${omitted} are not shown; ${kept}\n${end}`;
}

function cutAtLineEnd(text: string, limit: number): string {
	const lineEnd = text.lastIndexOf("\n", limit);
	return cutText(text, lineEnd > 0 && lineEnd >= limit * (1 - GIVEN_AWAY) ? lineEnd : limit);
}

/** Returns the end of a text, which never begins inside a character. */
function endOf(text: string, length: number): string {
	const end = text.slice(-length);
	const code = end.charCodeAt(0);
	return code >= 0xdc00 && code <= 0xdfff ? end.slice(1) : end;
}

function grouped(count: number): string {
	return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
