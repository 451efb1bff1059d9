// What the middlewares that shorten a history share. A call begins with the shortened state, and the conversation continues
// from there; in a session the model sees the turns before this one shortened, and the journal keeps them.
import type { Message } from "@holdfast/upp";
import type { Interceptor } from "../interceptor.ts";
import type { Middleware } from "./middleware-face.ts";

/** A middleware that shortens what came before a run. `shorten` gives nothing where nothing is to be done. */
export function shortenHistory(
	name: string,
	shorten: (messages: readonly Message[]) => readonly Message[] | undefined,
): Middleware & Interceptor {
	return {
		name,
		before(context) {
			const shortened = shorten(context.state.messages);
			return shortened && { ...context, state: context.state.withContext(shortened) };
		},
		begin: (run) =>
			run.kind === "call"
				? undefined
				: {
						assemble(messages) {
							const at = messages.findLastIndex(({ id }) => id === run.context.input.id);
							const earlier = at < 0 ? messages : messages.slice(0, at);
							const shortened = shorten(earlier);
							return shortened === undefined ? messages : [...shortened, ...messages.slice(earlier.length)];
						},
					},
	};
}
