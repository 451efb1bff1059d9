// Shared by the middlewares that shorten a history. A call starts with the shortened state, and the conversation
// continues from there; in a session the journal keeps the whole history. Before every model call its view is shortened
// again, so that a long turn is shortened too.
import type { Message } from "@holdfast/upp";
import type { Interceptor } from "../interceptor.ts";
import type { Middleware } from "./middleware-face.ts";

/**
 * Creates a middleware that shortens the history before a run, and the model's view within it. Both functions return
 * undefined if there is nothing to shorten.
 *
 * @param shortenView gets all messages that the model would see, and the index of the run's input among them.
 */
export function shortenHistory(
	name: string,
	shorten: (messages: readonly Message[]) => readonly Message[] | undefined,
	shortenView: (messages: readonly Message[], input: number) => readonly Message[] | undefined,
): Middleware & Interceptor {
	const before: Middleware["before"] = (context) => {
		const shortened = shorten(context.state.messages);
		return shortened && { ...context, state: context.state.withContext(shortened) };
	};
	return {
		name,
		before,
		begin(run) {
			const assemble = (messages: readonly Message[]): readonly Message[] => {
				const at = messages.findLastIndex(({ id }) => id === run.context.input.id);
				return shortenView(messages, at < 0 ? messages.length : at) ?? messages;
			};
			return run.kind === "call" ? { before, assemble } : { assemble };
		},
	};
}
