// Ids by the time at which they are due: a binary heap. Ids of the same time keep their order.

interface Entry {
	readonly id: string;
	readonly until: number;
	readonly order: number;
}

export class Due {
	readonly #heap: Entry[] = [];
	#count = 0;

	add(id: string, until: number): void {
		const heap = this.#heap;
		let at = heap.push({ id, until, order: this.#count++ }) - 1;
		for (let above = (at - 1) >> 1; at > 0 && this.#isBefore(at, above); above = (at - 1) >> 1) {
			this.#swap(at, above);
			at = above;
		}
	}

	/** Removes and returns the entries that are due, the earliest first. */
	take(now: number): readonly Entry[] {
		const due: Entry[] = [];
		for (let first = this.#heap[0]; first !== undefined && first.until <= now; first = this.#heap[0]) {
			due.push(first);
			this.#shift();
		}
		return due;
	}

	/** Returns the earliest entry that is still wanted. Removes earlier ones. */
	first(isWanted: (id: string, until: number) => boolean): Entry | undefined {
		while (this.#heap[0] !== undefined && !isWanted(this.#heap[0].id, this.#heap[0].until)) this.#shift();
		return this.#heap[0];
	}

	#shift(): void {
		const heap = this.#heap;
		const last = heap.pop();
		if (last === undefined || heap.length === 0) return;
		heap[0] = last;
		for (let at = 0; ; ) {
			let least = at;
			for (const below of [2 * at + 1, 2 * at + 2])
				if (below < heap.length && this.#isBefore(below, least)) least = below;
			if (least === at) return;
			this.#swap(at, least);
			at = least;
		}
	}

	#isBefore(one: number, other: number): boolean {
		const [left, right] = [this.#heap[one] as Entry, this.#heap[other] as Entry];
		return left.until === right.until ? left.order < right.order : left.until < right.until;
	}

	#swap(one: number, other: number): void {
		const heap = this.#heap;
		[heap[one], heap[other]] = [heap[other] as Entry, heap[one] as Entry];
	}
}
