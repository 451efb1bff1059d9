// Recently read sessions, so that reading one again only costs its new entries. The least recently read ones are dropped
// and have to be read again (keeps I7).
import type { ExecuteSession, SessionView, ShownError } from "holdfast/execute";

/** How many are kept. */
const most = 1_000;

export class RecentViews {
	readonly #views = new Map<string, SessionView>();
	readonly #shown: ShownError;

	/** `shown` converts an error of a run to the form that clients see. */
	constructor(shown: ShownError) {
		this.#shown = shown;
	}

	/** Returns the view of a session. */
	of(session: ExecuteSession): SessionView {
		const view = this.#views.get(session.key) ?? session.view(this.#shown);
		this.#views.delete(session.key);
		this.#views.set(session.key, view);
		for (const oldest of this.#views.keys()) {
			if (this.#views.size <= most) break;
			this.#views.delete(oldest);
		}
		return view;
	}

	/** The session was deleted. */
	forget({ key }: ExecuteSession): void {
		this.#views.delete(key);
	}
}
