// Reads for a view. A read ends the previous one for the same key, so that a late response never replaces a newer one.
import { useEffect } from "preact/hooks";
import { isOver } from "./api.ts";

/** Reads by key. */
export interface Reads {
	/** Ends the previous read with this key, and reports how this one ends unless another one follows. */
	start<Value>(
		key: string,
		load: (signal: AbortSignal) => Promise<Value>,
		found: (value: Value) => void,
		failed: (error: Error) => void,
	): void;
	/** Ends all reads: none of them reports anything. */
	end(): void;
}

export function latestReads(): Reads {
	const current = new Map<string, AbortController>();
	return {
		start(key, load, found, failed) {
			current.get(key)?.abort();
			const own = new AbortController();
			current.set(key, own);
			load(own.signal).then(
				(value) => {
					if (!own.signal.aborted) found(value);
				},
				(error: Error) => {
					if (!own.signal.aborted && !isOver(error)) failed(error);
				},
			);
		},
		end() {
			for (const each of current.values()) each.abort();
			current.clear();
		},
	};
}

/** Reads whenever an element of `look` changes; does not read if `load` is undefined. */
export function useRead<Value>(
	load: ((signal: AbortSignal) => Promise<Value>) | undefined,
	look: readonly unknown[],
	found: (value: Value) => void,
	failed: (error: Error) => void,
): void {
	useEffect(() => {
		if (load === undefined) return;
		const reads = latestReads();
		reads.start("", load, found, failed);
		return reads.end;
	}, look);
}
