// A persistent list with shared structure: appending, forking and keeping old versions take constant time (keeps I5).
// Versions of one line share one growing segment; an append to an older version starts a new segment after it. Segments
// have jump pointers past several of their ancestors, so that a position is found in logarithmic time in any chain.

/** A growing run of items; items beyond a fork belong to other versions. */
interface Segment<T> {
	/** The position of the first item within the whole list. */
	readonly offset: number;
	readonly items: T[];
	readonly before: Segment<T> | undefined;
	/** How many segments precede this one. */
	readonly depth: number;
	/** A more distant ancestor than `before`, or `before` itself. */
	readonly jump: Segment<T> | undefined;
}

/** This many arrays are joined in one call, which is faster. The number of arguments of a call is limited. */
const mostArguments = 10_000;

/** An immutable sequence. `append` returns a new list and leaves this one unchanged. */
export class List<T> implements Iterable<T> {
	static readonly #empty: List<never> = new List<never>(segmentOf([]), 0);

	/** How many items it has. */
	readonly length: number;
	readonly #segment: Segment<T>;
	#flat: readonly T[] | undefined;

	private constructor(segment: Segment<T>, length: number) {
		this.#segment = segment;
		this.length = length;
	}

	/** Returns a list without items. */
	static empty<T>(): List<T> {
		return List.#empty as List<T>;
	}

	/** Creates a list with copies of the given items. */
	static from<T>(items: Iterable<T>): List<T> {
		return List.empty<T>().appendAll(items);
	}

	/** Returns a list with one more item. */
	append(item: T): List<T> {
		const { items, offset } = this.#segment;
		if (this.length === 0 || offset + items.length !== this.length) return this.#fork([item]);
		items.push(item);
		return new List<T>(this.#segment, this.length + 1);
	}

	/** Returns a list with more items. */
	appendAll(items: Iterable<T>): List<T> {
		const added = [...items];
		const segment = this.#segment;
		if (added.length === 0) return this;
		if (this.length === 0 || segment.offset + segment.items.length !== this.length) return this.#fork(added);
		for (const item of added) segment.items.push(item);
		return new List<T>(segment, this.length + added.length);
	}

	/** Returns the item at a position from 0; negative positions count from the end. */
	at(position: number): T | undefined {
		const index = position < 0 ? this.length + position : position;
		if (!(index >= 0 && index < this.length)) return undefined;
		let segment = this.#segment;
		while (index < segment.offset) {
			// A list that starts after 0 has a preceding segment.
			const { jump, before } = segment as { jump: Segment<T>; before: Segment<T> };
			segment = index < jump.offset ? jump : before;
		}
		return segment.items[index - segment.offset];
	}

	/** Returns the items before a position as a list that shares structure with this one. */
	until(end: number): List<T> {
		if (end >= this.length) return this;
		if (end <= 0) return List.empty<T>();
		let segment = this.#segment;
		while (end <= segment.offset) {
			// A list that starts after 0 has a preceding segment.
			const { jump, before } = segment as { jump: Segment<T>; before: Segment<T> };
			segment = end <= jump.offset ? jump : before;
		}
		return new List<T>(segment, end);
	}

	/** Whether the first items are those of another list, as far as shared structure shows it: in logarithmic time. */
	beginsWith(other: List<T>): boolean {
		if (other.length === 0) return true;
		return other.length <= this.length && this.until(other.length).#segment === other.#segment;
	}

	/** Returns the items from a position on as a new array. The cost is proportional to its length. */
	from(start: number): T[] {
		const parts: T[][] = [];
		let end = this.length;
		for (
			let segment: Segment<T> | undefined = this.#segment;
			segment !== undefined && end > start;
			segment = segment.before
		) {
			parts.push(segment.items.slice(Math.max(0, start - segment.offset), end - segment.offset));
			end = segment.offset;
		}
		if (parts.length === 1) return parts[0] as T[];
		parts.reverse();
		return parts.length <= mostArguments ? ([] as T[]).concat(...parts) : (parts.flat(1) as T[]);
	}

	/** Returns all items as one frozen array, created once per version on demand. */
	toArray(): readonly T[] {
		this.#flat ??= Object.freeze(this.from(0));
		return this.#flat;
	}

	*[Symbol.iterator](): Iterator<T> {
		yield* this.toArray();
	}

	#fork(items: T[]): List<T> {
		const before = this.length === 0 ? undefined : this.#segment;
		return new List<T>(segmentOf(items, before, this.length), this.length + items.length);
	}
}

function segmentOf<T>(items: T[], before?: Segment<T>, offset = 0): Segment<T> {
	if (before === undefined) return { items, before, offset, depth: 0, jump: undefined };
	return { items, before, offset, depth: before.depth + 1, jump: jumpFrom(before) };
}

/** Two jumps of the same width become one twice as wide: a skew-binary counter. */
function jumpFrom<T>(before: Segment<T>): Segment<T> {
	const near = before.jump;
	const far = near?.jump;
	if (near === undefined || far === undefined) return before;
	return before.depth - near.depth === near.depth - far.depth ? far : before;
}
