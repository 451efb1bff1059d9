// Who wants to know of changes in which session. Shared by the journals.

/** Watchers by session key. */
export interface Watchers {
	/** Adds one; returns the way to take it away. */
	add(key: string, changed: () => void): () => void;
	/** Adds one of all sessions; returns the way to take it away. */
	addToAll(changed: () => void): () => void;
	/** Something of the session was committed: its watchers are called soon, once for all that came together. */
	changed(key: string): void;
	/** Something was committed, who knows where: the watchers of all sessions are called soon. */
	somethingChanged(): void;
	has(key: string): boolean;
	/** The keys somebody watches. */
	keys(): Iterable<string>;
	readonly size: number;
	/** Whether anybody watches all of them. */
	readonly hasAny: boolean;
}

/** Makes an empty set of watchers. */
export function makeWatchers(): Watchers {
	const byKey = new Map<string, Set<() => void>>();
	const awaiting = new Set<string>();
	const ofAll = new Set<() => void>();
	let allAwait = false;

	function call(): void {
		const keys = [...awaiting];
		awaiting.clear();
		for (const key of keys) for (const watcher of [...(byKey.get(key) ?? [])]) watcher();
	}

	function callAll(): void {
		allAwait = false;
		for (const watcher of [...ofAll]) watcher();
	}

	function somethingChanged(): void {
		if (ofAll.size === 0 || allAwait) return;
		allAwait = true;
		queueMicrotask(callAll);
	}

	return {
		somethingChanged,
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
		addToAll(changed) {
			const own = (): void => changed();
			ofAll.add(own);
			return () => void ofAll.delete(own);
		},
		changed(key) {
			if (ofAll.size > 0) somethingChanged();
			if (byKey.size === 0 || !byKey.has(key)) return;
			if (awaiting.size === 0) queueMicrotask(call);
			awaiting.add(key);
		},
		has: (key) => byKey.has(key),
		keys: () => byKey.keys(),
		get size() {
			return byKey.size;
		},
		get hasAny() {
			return ofAll.size > 0;
		},
	};
}
