// The views of recently read threads, each extended incrementally; older ones are rebuilt when needed (keeps I7).
import type { Journal } from "holdfast/host";
import { ThreadView } from "./thread-view.ts";

/** How many threads keep their messages in memory. */
const mostKept = 200;

export class ThreadViews {
	readonly #journal: Journal;
	readonly #storeKeyOf: (threadId: string) => string;
	/** Views with the session they belong to, most recently used last. */
	readonly #kept = new Map<string, { readonly incarnation: string; readonly view: ThreadView }>();
	readonly #reading = new Map<string, Promise<ThreadView>>();

	constructor(journal: Journal, storeKeyOf: (threadId: string) => string) {
		this.#journal = journal;
		this.#storeKeyOf = storeKeyOf;
	}

	/** Returns the messages of a thread, including those that other processes added. */
	get(threadId: string): Promise<ThreadView> {
		const before = this.#reading.get(threadId) ?? Promise.resolve();
		const reading = before.catch(() => {}).then(() => this.#read(threadId));
		this.#reading.set(threadId, reading);
		const over = (): void => {
			if (this.#reading.get(threadId) === reading) this.#reading.delete(threadId);
		};
		reading.then(over, over);
		return reading;
	}

	async #read(threadId: string): Promise<ThreadView> {
		const key = this.#storeKeyOf(threadId);
		const head = await this.#journal.head(key);
		if (head === undefined) return new ThreadView();
		const known = this.#kept.get(threadId);
		const isSame = known?.incarnation === head.incarnation;
		let view = isSame ? known.view : new ThreadView();
		if (head.seq > view.seq && !(await this.#continue(key, view))) {
			// The entries from which it was built have been folded away.
			view = new ThreadView();
			await this.#continue(key, view);
		}
		this.#kept.delete(threadId);
		this.#kept.set(threadId, { incarnation: head.incarnation, view });
		for (const oldest of this.#kept.keys()) if (this.#kept.size > mostKept) this.#kept.delete(oldest);
		return view;
	}

	async #continue(key: string, view: ThreadView): Promise<boolean> {
		try {
			const entries = await this.#journal.read(key, { after: view.seq });
			return entries.every((entry) => view.apply(entry));
		} catch (error) {
			if ((error as { code?: unknown }).code === "events_expired" && view.seq > 0) return false;
			throw error;
		}
	}
}
