// Items by the time at which they are due: a binary heap. Items of the same time keep their order.

/** An item in the heap. */
export interface Place<Item> {
	readonly item: Item;
	readonly dueAt: number;
	readonly order: number;
}

export class DueHeap<Item> {
	#places: Place<Item>[] = [];
	#count = 0;

	get size(): number {
		return this.#places.length;
	}

	/** The item that is due first; undefined if there is none. */
	get first(): Place<Item> | undefined {
		return this.#places[0];
	}

	/** All items, in no order. */
	get all(): readonly Place<Item>[] {
		return this.#places;
	}

	add(item: Item, dueAt: number): Place<Item> {
		const places = this.#places;
		const place = { item, dueAt, order: this.#count++ };
		let at = places.length;
		for (let up = (at - 1) >> 1; at > 0 && isBefore(place, places[up]); up = (at - 1) >> 1) {
			places[at] = places[up] as Place<Item>;
			at = up;
		}
		places[at] = place;
		return place;
	}

	/** Removes the item that is due first. */
	shift(): void {
		const places = this.#places;
		const place = places.pop();
		if (place === undefined || places.length === 0) return;
		let at = 0;
		for (;;) {
			let down = 2 * at + 1;
			if (isBefore(places[down + 1], places[down])) down++;
			const next = places[down];
			if (next === undefined || isBefore(place, next)) break;
			places[at] = next;
			at = down;
		}
		places[at] = place;
	}

	/** Removes all other items. */
	keep(isKept: (place: Place<Item>) => boolean): void {
		// A sorted list is a heap.
		this.#places = this.#places.filter(isKept).sort((one, other) => (isBefore(one, other) ? -1 : 1));
	}
}

function isBefore(one: Place<unknown> | undefined, other: Place<unknown> | undefined): boolean {
	if (one === undefined || other === undefined) return false;
	return one.dueAt === other.dueAt ? one.order < other.order : one.dueAt < other.dueAt;
}
