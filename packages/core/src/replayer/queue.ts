// A first-in, first-out queue with constant cost for each item.

export class Queue<Item> {
	#items: Item[] = [];
	#first = 0;

	get size(): number {
		return this.#items.length - this.#first;
	}

	get head(): Item | undefined {
		return this.#items[this.#first];
	}

	push(item: Item): void {
		this.#items.push(item);
	}

	shift(): Item | undefined {
		const item = this.#items[this.#first];
		if (this.size > 0) this.#first++;
		if (this.#first > 64 && this.#first * 2 > this.#items.length) {
			this.#items = this.#items.slice(this.#first);
			this.#first = 0;
		}
		return item;
	}
}
