// In-memory timers: a heap ordered by due time, so that pending ones cost nothing.
import { decodeValue, encodeValue, type JSONValue } from "@holdfast/upp";
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
	place: Place | undefined;
}

interface Place {
	readonly dueAt: number;
	readonly timer: Kept;
}

/** Returns the timers stored with the sessions of a store. */
export function timersBeside(store: Store): TimerStore {
	const bySession = new Map<string, Map<string, Kept>>();
	const watchers = new Set<() => void>();
	let heap: Place[] = [];
	let count = 0;
	let claims = 0;

	const find = (key: string, name: string): Kept | undefined => bySession.get(key)?.get(name);
	const isValid = (place: Place): boolean => place.timer.place === place;

	function put(timer: Kept, dueAt: number): void {
		timer.place = { dueAt, timer };
		push(heap, timer.place);
		// A sorted list is a heap.
		if (heap.length > 2 * count + 64)
			heap = heap.filter(isValid).sort((one, other) => one.dueAt - other.dueAt);
	}

	/** Returns the heap entry of the timer that is due first. */
	function first(): Place | undefined {
		while (heap[0] !== undefined && !isValid(heap[0])) pop(heap);
		return heap[0];
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
			const passed: Place[] = [];
			const of = namespace === undefined ? undefined : namespacePrefix(namespace);
			for (let place = first(); due.length < limit; place = first()) {
				if (place === undefined || place.dueAt > now) break;
				place.timer.place = undefined;
				if (of === undefined || place.timer.key.startsWith(of.prefix) === of.begins) due.push(place.timer);
				else passed.push(place);
			}
			for (const { timer, dueAt } of passed) put(timer, dueAt);
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
			const later = heap.filter((place) => isValid(place) && place.dueAt > after);
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

function push(heap: Place[], place: Place): void {
	let at = heap.length;
	for (let up = (at - 1) >> 1; at > 0 && (heap[up] as Place).dueAt > place.dueAt; up = (at - 1) >> 1) {
		heap[at] = heap[up] as Place;
		at = up;
	}
	heap[at] = place;
}

function pop(heap: Place[]): void {
	const place = heap.pop();
	if (place === undefined || heap.length === 0) return;
	let at = 0;
	for (;;) {
		let down = 2 * at + 1;
		const [left, right] = [heap[down], heap[down + 1]];
		if (left !== undefined && right !== undefined && right.dueAt < left.dueAt) down++;
		const next = heap[down];
		if (next === undefined || next.dueAt >= place.dueAt) break;
		heap[at] = next;
		at = down;
	}
	heap[at] = place;
}
