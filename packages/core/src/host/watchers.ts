// The watchers of sessions, shared by the journals.
import type { Committed } from "../facts/index.ts";

/** Called after a change, with its commits if they are known. */
type Changed = (commits?: readonly Committed[]) => void;

/** Watchers by session key. */
export interface Watchers {
	/** Adds a watcher. Returns a function that removes it. */
	add(key: string, changed: Changed): () => void;
	/** Adds a watcher of all sessions. Returns a function that removes it. */
	addToAll(changed: () => void): () => void;
	/**
	 * Reports a commit of the session. Its watchers are called soon, once for all commits until then. `commits` returns
	 * the commits, and is called only if there are watchers. Default: they have to be read.
	 */
	changed(key: string, commits?: () => readonly Committed[]): void;
	/** Reports a commit to an unknown session. The watchers of all sessions are called soon. */
	somethingChanged(): void;
	/** Whether the session has a watcher. */
	has(key: string): boolean;
	/** The watched keys. */
	keys(): Iterable<string>;
	/** The number of watched keys. */
	readonly size: number;
	/** Whether there is a watcher of all sessions. */
	readonly hasAny: boolean;
}

/** Creates an empty set of watchers. Most stores never need one. */
export function makeWatchers(): Watchers {
	return new WatcherSet();
}

class WatcherSet implements Watchers {
	readonly #byKey = new Map<string, Set<Changed>>();
	/** Keys, with the commits if all of them are known. */
	#awaiting: Map<string, Committed[] | undefined> | undefined;
	#ofAll: Set<() => void> | undefined;
	#allAwait = false;

	add(key: string, changed: Changed): () => void {
		const byKey = this.#byKey;
		const watchers = byKey.get(key) ?? new Set();
		byKey.set(key, watchers);
		// A separate wrapper, so that one function given twice is two watchers.
		const own: Changed = (commits) => changed(commits);
		watchers.add(own);
		return () => {
			watchers.delete(own);
			if (watchers.size === 0 && byKey.get(key) === watchers) byKey.delete(key);
		};
	}

	addToAll(changed: () => void): () => void {
		const own = (): void => changed();
		this.#ofAll ??= new Set();
		this.#ofAll.add(own);
		return () => void this.#ofAll?.delete(own);
	}

	changed(key: string, commits?: () => readonly Committed[]): void {
		if (this.hasAny) this.somethingChanged();
		if (this.#byKey.size === 0 || !this.#byKey.has(key)) return;
		this.#awaiting ??= new Map();
		if (this.#awaiting.size === 0) queueMicrotask(() => this.#call());
		const before = this.#awaiting.has(key) ? this.#awaiting.get(key) : [];
		if (commits === undefined) this.#awaiting.set(key, undefined);
		else if (before !== undefined) {
			before.push(...commits());
			this.#awaiting.set(key, before);
		}
	}

	somethingChanged(): void {
		if (!this.hasAny || this.#allAwait) return;
		this.#allAwait = true;
		queueMicrotask(() => this.#callAll());
	}

	has(key: string): boolean {
		return this.#byKey.has(key);
	}

	keys(): Iterable<string> {
		return this.#byKey.keys();
	}

	get size(): number {
		return this.#byKey.size;
	}

	get hasAny(): boolean {
		return this.#ofAll !== undefined && this.#ofAll.size > 0;
	}

	#call(): void {
		const changes = this.#awaiting ?? new Map();
		this.#awaiting = undefined;
		for (const [key, commits] of changes)
			for (const watcher of [...(this.#byKey.get(key) ?? [])]) watcher(commits);
	}

	#callAll(): void {
		this.#allAwait = false;
		for (const watcher of [...(this.#ofAll ?? [])]) watcher();
	}
}
