// Where a window may begin: a result is never separated from its call, and a question is kept with the end of its answer.
import { isAssistantMessage, isUserMessage, type Message } from "@holdfast/upp";

/** The messages from a position on, and a question before them. */
export interface Window {
	readonly from: number;
	readonly question?: number;
}

/** Returns the messages of a window. */
export function shownBy(messages: readonly Message[], { question, from }: Window): readonly Message[] {
	const end = messages.slice(from);
	return question === undefined ? end : [messages[question] as Message, ...end];
}

/**
 * Returns the window of the input and the `limit` most recent of all other messages; undefined if there are no more. An
 * `input` of the number of messages is not among them.
 */
export function windowOf(messages: readonly Message[], input: number, limit: number): Window | undefined {
	const since = messages.length - input - 1;
	if (messages.length - (since < 0 ? 0 : 1) <= limit) return undefined;
	if (since < 0) return endOf(messages, messages.length, limit);
	if (since === limit) return { from: input };
	// An answer starts with an assistant message: an earlier result would have lost its call.
	if (since > limit)
		return {
			question: input,
			from: next(messages, messages.length - limit, messages.length, isAssistantMessage),
		};
	return endOf(messages, input, limit - since);
}

/** Returns the window from a place on that an earlier request began at. */
export function windowFrom(messages: readonly Message[], input: number, from: number): Window {
	if (isUserMessage(messages[from] as Message)) return { from };
	if (input < from) return { question: input, from };
	const question = lastQuestion(messages, from);
	return question < 0 ? { from } : { question, from };
}

/**
 * Returns the window, extended to the run's last answer if it begins later. The model has not seen the results of its last
 * calls yet, and would make the same calls again in each step.
 */
export function withLastAnswer(
	messages: readonly Message[],
	input: number,
	window: Window | undefined,
): Window | undefined {
	if (window === undefined) return undefined;
	const last = messages.findLastIndex(isAssistantMessage);
	const isInRun = last > input || input === messages.length;
	return isInRun && last >= 0 && window.from > last ? windowFrom(messages, input, last) : window;
}

/** Returns the window of the last `limit` messages before `end`, and all from there on. */
function endOf(messages: readonly Message[], end: number, limit: number): Window {
	const from = next(messages, Math.max(0, end - limit), end, isUserMessage);
	if (from < end) return { from };
	const answer = next(messages, Math.max(0, end - limit + 1), end, isAssistantMessage);
	const question = lastQuestion(messages, end);
	return answer === end || question < 0 ? { from: end } : { question, from: answer };
}

/** Returns the last position of a user's message before `end`; -1 if there is none. */
function lastQuestion(messages: readonly Message[], end: number): number {
	let at = end - 1;
	while (at >= 0 && !isUserMessage(messages[at] as Message)) at--;
	return at;
}

/** Returns the first position of a range with such a message; the end of the range if it has none. */
function next(
	messages: readonly Message[],
	start: number,
	end: number,
	is: (message: Message) => boolean,
): number {
	let at = start;
	while (at < end && !is(messages[at] as Message)) at++;
	return at;
}
