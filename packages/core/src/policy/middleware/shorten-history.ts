// Shared by the middlewares that shorten a history. A call starts with the shortened state, and the conversation
// continues from there; in a session the journal keeps the whole history. Before every model call its view is shortened
// again, so that a long turn is shortened too.
import type { Message } from "@holdfast/upp";
import { type AssembledRequest, requestOf } from "../assembled-request.ts";
import type { Interceptor } from "../interceptor.ts";
import type { Middleware } from "./middleware-face.ts";

/** Shortens the model's view within one run. Returns undefined if there is nothing to shorten. */
export type ShortenView = (
	/** All messages that the model would see. */
	messages: readonly Message[],
	request: AssembledRequest,
	/** Returns the position of the run's input among them; their number if it is not among them. */
	input: () => number,
) => readonly Message[] | undefined;

/**
 * Creates a middleware that shortens the history before a run, and the model's view within it.
 *
 * @param shorten returns undefined if there is nothing to shorten.
 * @param shortenViews creates the function for the views of one run.
 */
export function shortenHistory(
	name: string,
	shorten: (messages: readonly Message[]) => readonly Message[] | undefined,
	shortenViews: () => ShortenView,
): Middleware & Interceptor {
	const before: Middleware["before"] = (context) => {
		const shortened = shorten(context.state.messages);
		return shortened && { ...context, state: context.state.withContext(shortened) };
	};
	return {
		name,
		before,
		begin(run) {
			const shortenView = shortenViews();
			let known = -1;
			const assemble = (messages: readonly Message[], given?: unknown): readonly Message[] => {
				const input = (): number => {
					const { id } = run.context.input;
					if (messages[known]?.id !== id) known = messages.findLastIndex((message) => message.id === id);
					return known < 0 ? messages.length : known;
				};
				return shortenView(messages, requestOf(given, messages), input) ?? messages;
			};
			return run.kind === "call" ? { before, assemble, waits: "never" } : { assemble, waits: "never" };
		},
	};
}

/** Returns the position of a message, from the end; -1 without one. `near` is where it was last. */
export function positionOf(messages: readonly Message[], id: string | undefined, near: number): number {
	if (id === undefined) return -1;
	return messages[near]?.id === id ? near : messages.findLastIndex((message) => message.id === id);
}
