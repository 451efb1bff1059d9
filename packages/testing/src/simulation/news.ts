// Change notifications for stores outside memory: such a store notices other processes in real time, but a schedule only
// has simulated time. The simulation therefore reports each change at once.
import type { Lease } from "holdfast/host";

export class News {
	readonly #watchers = new Map<string, Set<() => void>>();
	readonly #holders = new Map<string, { readonly lease: Lease; readonly lost: (() => void) | undefined }>();
	readonly #listening = new Map<Lease, () => void>();

	/** Calls `changed` after each change of a session; returns a function that unsubscribes. */
	watch(key: string, changed: () => void): () => void {
		const watchers = this.#watchers.get(key) ?? new Set();
		this.#watchers.set(key, watchers.add(changed));
		return () => watchers.delete(changed);
	}

	/** Calls `lost` when another lease takes the session, or it is deleted. */
	listen(lease: Lease, lost: () => void): void {
		this.#listening.set(lease, lost);
	}

	/** Records that a lease has appended, and so holds the session. */
	appended(lease: Lease): void {
		const before = this.#holders.get(lease.key);
		if (before?.lease !== lease) {
			this.#holders.set(lease.key, { lease, lost: this.#listening.get(lease) });
			before?.lost?.();
		}
		this.changed(lease.key);
	}

	changed(key: string): void {
		for (const changed of [...(this.#watchers.get(key) ?? [])]) changed();
	}

	deleted(key: string): void {
		this.#holders.get(key)?.lost?.();
		this.#holders.delete(key);
		this.changed(key);
	}
}
