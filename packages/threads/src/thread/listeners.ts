// The listeners of threads' events in this process.
import type { ThreadListener } from "./threads-options.ts";

export class ThreadListeners {
	readonly #byThread = new Map<string, Set<ThreadListener>>();

	/** Adds a listener. Returns a function that removes it. */
	add(threadId: string, listener: ThreadListener): () => void {
		const known = this.#byThread.get(threadId) ?? new Set();
		this.#byThread.set(threadId, known.add(listener));
		return () => {
			known.delete(listener);
			if (known.size === 0 && this.#byThread.get(threadId) === known) this.#byThread.delete(threadId);
		};
	}

	emit(event: Parameters<ThreadListener>[0]): void {
		for (const listener of this.#byThread.get(event.threadId) ?? []) listener(event);
	}
}
