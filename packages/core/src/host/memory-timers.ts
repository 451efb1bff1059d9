// In-memory timers: a heap ordered by due time, so that pending ones cost nothing.
import { decodeValue, encodeValue, type JSONValue } from "@holdfast/upp";
import { DueHeap, type Place } from "./due-heap.ts";
import { ensureSession, type Store } from "./memory-store.ts";
import { namespacePrefix } from "./session-key.ts";
import { claimAtOnce, claimLease, type Timer, type TimerStore } from "./timers.ts";

interface Kept {
	readonly key: string;
	readonly name: string;
	readonly wakeAt: number;
	/** The body as text; undefined if absent. */
	readonly body: string | undefined;
	attempt: number;
	claim: string | undefined;
	/** Its entry in the heap; older entries are stale. */
	place: Place<Kept> | undefined;
}

/** Returns the timers stored with the sessions of a store. */
export function timersBeside(store: Store): TimerStore {
	const bySession = new Map<string, Map<string, Kept>>();
	const watchers = new Set<() => void>();
	const heap = new DueHeap<Kept>();
	let count = 0;
	let claims = 0;

	const find = (key: string, name: string): Kept | undefined => bySession.get(key)?.get(name);
	const isValid = (place: Place<Kept>): boolean => place.item.place === place;

	function put(timer: Kept, dueAt: number): void {
		timer.place = heap.add(timer, dueAt);
		if (heap.size > 2 * count + 64) heap.keep(isValid);
	}

	/** Returns the heap entry of the timer that is due first. */
	function first(): Place<Kept> | undefined {
		while (heap.first !== undefined && !isValid(heap.first)) heap.shift();
		return heap.first;
	}

	function remove(key: string, name: string): boolean {
		const timers = bySession.get(key);
		const timer = timers?.get(name);
		if (timers === undefined || timer === undefined) return false;
		timers.delete(name);
		timer.place = undefined;
		count--;
		if (timers.size === 0) bySession.delete(key);
		return true;
	}

	store.deleted.push((key) => {
		for (const name of [...(bySession.get(key)?.keys() ?? [])]) remove(key, name);
	});
	return {
		set({ key, name, wakeAt, body }) {
			const text = body === undefined ? undefined : JSON.stringify(encodeValue(body));
			ensureSession(store, key);
			remove(key, name);
			const timer: Kept = { key, name, wakeAt, body: text, attempt: 0, claim: undefined, place: undefined };
			const timers = bySession.get(key) ?? new Map<string, Kept>();
			bySession.set(key, timers.set(name, timer));
			count++;
			put(timer, wakeAt);
			for (const changed of watchers) queueMicrotask(changed);
		},
		cancel: remove,
		claim({ now, leaseMs = claimLease, limit = claimAtOnce, namespace }) {
			const due: Kept[] = [];
			const passed: Place<Kept>[] = [];
			const of = namespace === undefined ? undefined : namespacePrefix(namespace);
			for (let place = first(); due.length < limit; place = first()) {
				if (place === undefined || place.dueAt > now) break;
				place.item.place = undefined;
				if (of === undefined || place.item.key.startsWith(of.prefix) === of.begins) due.push(place.item);
				else passed.push(place);
			}
			for (const { item, dueAt } of passed) put(item, dueAt);
			return due.map((timer) => {
				timer.attempt++;
				timer.claim = String(++claims);
				put(timer, now + leaseMs);
				const session = store.sessions.get(timer.key);
				const incarnation = session === undefined ? "" : store.incarnationOf(session.number);
				return { ...timerOf(timer), incarnation, claim: timer.claim, attempt: timer.attempt };
			});
		},
		settle: ({ key, name, claim }) => find(key, name)?.claim === claim && remove(key, name),
		nextDue({ after } = {}) {
			const next = first()?.dueAt;
			if (after === undefined || next === undefined || next > after) return next;
			const later = heap.all.filter((place) => isValid(place) && place.dueAt > after);
			return later.reduce<number | undefined>(
				(least, { dueAt }) => (least === undefined || dueAt < least ? dueAt : least),
				undefined,
			);
		},
		list: (key) =>
			[...(bySession.get(key)?.values() ?? [])]
				.sort((one, other) => (one.name < other.name ? -1 : 1))
				.map(timerOf),
		watch(changed) {
			const own = (): void => changed();
			watchers.add(own);
			return () => void watchers.delete(own);
		},
	};
}

function timerOf({ key, name, wakeAt, body }: Kept): Timer {
	const timer = { key, name, wakeAt };
	return body === undefined ? timer : { ...timer, body: decodeValue(JSON.parse(body) as JSONValue) };
}
