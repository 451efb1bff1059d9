// State shared by the journals of one process over one store object. The store does not report changes. Within a process,
// watchers are notified of changes, the holder of a killed or deleted session is notified, and sessions can be listed.
import type { SessionStore } from "holdfast/host";
import { makeWatchers, type Watchers } from "holdfast/host";

/** Maximum number of keys remembered for listing, and of fences; the oldest are discarded. */
const mostRemembered = 100_000;

/** A lease that is notified of its loss. */
export interface FencedLease {
	readonly key: string;
	/** Called when the session may have been taken from it. */
	noticeFence(): void;
}

export interface StoreProcess {
	readonly workers: Set<string>;
	readonly watchers: Watchers;
	/** Leases with a listener for their loss. */
	readonly listening: Set<FencedLease>;
	/** Epochs at or below these were seized or deleted, by key. */
	readonly fences: Map<string, number>;
	/** Keys that were used. */
	readonly keys: Set<string>;
	/** The last input of each session that is being submitted. */
	readonly submits: Map<string, Promise<unknown>>;
	/** The highest epoch of any session deleted here. */
	highestDeletedEpoch: number;
}

const processes = new WeakMap<SessionStore, StoreProcess>();

/** Returns the process-wide state of a store. */
export function processOf(store: SessionStore): StoreProcess {
	let known = processes.get(store);
	if (known === undefined) {
		known = {
			workers: new Set(),
			watchers: makeWatchers(),
			listening: new Set(),
			fences: new Map(),
			keys: new Set(),
			submits: new Map(),
			highestDeletedEpoch: 0,
		};
		processes.set(store, known);
	}
	return known;
}

/** Records that a session was used. */
export function remember({ keys }: StoreProcess, key: string): void {
	if (keys.has(key)) return;
	keys.add(key);
	forgetOldest(keys);
}

/**
 * Calls `submit` after the earlier inputs are stored or refused. Each replaces the head by compare-and-swap, so
 * concurrent calls would be stored in random order.
 */
export function inCallOrder<T>({ submits }: StoreProcess, key: string, submit: () => Promise<T>): Promise<T> {
	const before = submits.get(key);
	const submitted = before === undefined ? submit() : before.then(submit);
	const settled = submitted.then(
		() => {},
		() => {},
	);
	submits.set(key, settled);
	void settled.then(() => {
		if (submits.get(key) === settled) submits.delete(key);
	});
	return submitted;
}

/** Fences leases of the session up to an epoch, and notifies those of this process. */
export function fence({ fences, listening }: StoreProcess, key: string, epoch: number): void {
	fences.delete(key);
	fences.set(key, epoch);
	forgetOldest(fences);
	for (const lease of [...listening]) if (lease.key === key) lease.noticeFence();
}

function forgetOldest(kept: Set<string> | Map<string, unknown>): void {
	if (kept.size <= mostRemembered) return;
	for (const oldest of kept.keys()) {
		kept.delete(oldest);
		break;
	}
}
