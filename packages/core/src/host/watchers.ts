// Who wants to know of changes in which session. Shared by the journals.

/** Watchers by session key. */
export interface Watchers {
	/** Adds one; returns the way to take it away. */
	add(key: string, changed: () => void): () => void;
	/** Something of the session was committed: its watchers are called soon, once for all that came together. */
	changed(key: string): void;
	has(key: string): boolean;
	/** The keys somebody watches. */
	keys(): Iterable<string>;
	readonly size: number;
}

/** Makes an empty set of watchers. */
export function makeWatchers(): Watchers {
	const byKey = new Map<string, Set<() => void>>();
	const awaiting = new Set<string>();

	function call(): void {
		const keys = [...awaiting];
		awaiting.clear();
		for (const key of keys) for (const watcher of [...(byKey.get(key) ?? [])]) watcher();
	}

	return {
		add(key, changed) {
			const watchers = byKey.get(key) ?? new Set();
			byKey.set(key, watchers);
			// A wrapper of its own, so that one function given twice is two watchers.
			const own = (): void => changed();
			watchers.add(own);
			return () => {
				watchers.delete(own);
				if (watchers.size === 0 && byKey.get(key) === watchers) byKey.delete(key);
			};
		},
		changed(key) {
			if (byKey.size === 0 || !byKey.has(key)) return;
			if (awaiting.size === 0) queueMicrotask(call);
			awaiting.add(key);
		},
		has: (key) => byKey.has(key),
		keys: () => byKey.keys(),
		get size() {
			return byKey.size;
		},
	};
}
