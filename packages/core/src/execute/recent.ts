// A bounded map of the most recently used entries (keeps I7). Dropped entries can be rebuilt.
export class Recent<Key, Value> {
	readonly #most: number;
	readonly #values = new Map<Key, Value>();

	constructor(most: number) {
		this.#most = most;
	}

	get(key: Key): Value | undefined {
		const value = this.#values.get(key);
		if (value !== undefined) this.set(key, value);
		return value;
	}

	set(key: Key, value: Value): void {
		this.#values.delete(key);
		this.#values.set(key, value);
		if (this.#values.size > this.#most) this.#values.delete(this.#values.keys().next().value as Key);
	}

	delete(key: Key): void {
		this.#values.delete(key);
	}
}
