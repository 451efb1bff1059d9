// A persistent list with shared structure: appending, forking and keeping old versions cost constant time (keeps I5).
// Versions of one line share one growing array; the second append to an old version starts a new segment.

/** An immutable sequence. `append` returns a new list and leaves this one as it was. */
export class List<T> implements Iterable<T> {
	static readonly #empty: List<never> = new List<never>(undefined, 0, [], 0);

	readonly length: number;
	/** Where this segment's items start within the whole list. */
	readonly #offset: number;
	readonly #before: List<T> | undefined;
	readonly #items: T[];
	#flat: readonly T[] | undefined;

	private constructor(before: List<T> | undefined, offset: number, items: T[], length: number) {
		this.#before = before;
		this.#offset = offset;
		this.#items = items;
		this.length = length;
	}

	static empty<T>(): List<T> {
		return List.#empty as List<T>;
	}

	/** Copies the given items. */
	static from<T>(items: Iterable<T>): List<T> {
		const own = [...items];
		return own.length === 0 ? List.empty() : new List<T>(undefined, 0, own, own.length);
	}

	append(item: T): List<T> {
		const items = this.#offset + this.#items.length === this.length ? this.#items : undefined;
		if (items === undefined || this.length === 0)
			return new List<T>(this.length === 0 ? undefined : this, this.length, [item], this.length + 1);
		items.push(item);
		return new List<T>(this.#before, this.#offset, items, this.length + 1);
	}

	appendAll(items: Iterable<T>): List<T> {
		let list: List<T> = this;
		for (const item of items) list = list.append(item);
		return list;
	}

	/** The item at a position from 0; negative positions count from the end. */
	at(position: number): T | undefined {
		const index = position < 0 ? this.length + position : position;
		if (index < 0 || index >= this.length) return undefined;
		let list: List<T> | undefined = this;
		while (list !== undefined && index < list.#offset) list = list.#before;
		return list === undefined ? undefined : list.#items[index - list.#offset];
	}

	/** The items from a position on, as a new array; costs what it returns. */
	from(start: number): T[] {
		const parts: T[][] = [];
		let end = this.length;
		for (let list: List<T> | undefined = this; list !== undefined && end > start; list = list.#before) {
			parts.push(list.#items.slice(Math.max(0, start - list.#offset), end - list.#offset));
			end = list.#offset;
		}
		return parts.length === 1 ? (parts[0] as T[]) : (parts.reverse().flat(1) as T[]);
	}

	/** All items as one frozen array; made once for each version that is asked. */
	toArray(): readonly T[] {
		this.#flat ??= Object.freeze(this.from(0));
		return this.#flat;
	}

	*[Symbol.iterator](): Iterator<T> {
		yield* this.toArray();
	}
}
