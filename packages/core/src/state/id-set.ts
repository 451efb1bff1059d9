// A persistent set of ids with shared structure: adding to the newest version takes constant time and leaves older
// versions unchanged (keeps I5). Versions of one line share one growing list; adding to an older version starts a new
// list after it.

/** Ids that were added in sequence. Those beyond a fork belong to other versions. */
interface Line {
	readonly ids: string[];
	/** The position of each id in `ids`; built when a version with more than a few is queried. */
	positions: Map<string, number> | undefined;
	/** The set that the line continues. */
	readonly before: IdSet | undefined;
}

/** Up to this many ids, a linear search is faster than a lookup. */
const few = 8;

/** A set of ids. `add` returns a new one. */
export class IdSet {
	static readonly #empty: IdSet = new IdSet({ ids: [], positions: undefined, before: undefined }, 0);
	readonly #line: Line;
	/** How many ids of the line belong to this version. */
	readonly #length: number;

	private constructor(line: Line, length: number) {
		this.#line = line;
		this.#length = length;
	}

	static empty(): IdSet {
		return IdSet.#empty;
	}

	has(id: string): boolean {
		for (let set: IdSet | undefined = this; set !== undefined; set = set.#line.before)
			if (isAmong(set.#line, set.#length, id)) return true;
		return false;
	}

	add(id: string): IdSet {
		const line = this.#line;
		const length = this.#length;
		// Another version has already added the same id.
		if (length > 0 && line.ids[length] === id) return new IdSet(line, length + 1);
		if (this.has(id)) return this;
		if (length === 0 || line.ids.length > length) return this.#fork(id);
		line.positions?.set(id, length);
		line.ids.push(id);
		return new IdSet(line, length + 1);
	}

	/**
	 * Lists no longer than the new one are copied into it, as in a binary counter, so that a chain of forks has few
	 * lists.
	 */
	#fork(id: string): IdSet {
		if (this.#length === 0) return new IdSet({ ids: [id], positions: undefined, before: undefined }, 1);
		let before: IdSet | undefined = this;
		const copied: string[][] = [];
		let count = 1;
		for (; before !== undefined && before.#length <= count; before = before.#line.before) {
			copied.push(before.#line.ids.slice(0, before.#length));
			count += before.#length;
		}
		const ids = copied.reverse().flat();
		ids.push(id);
		return new IdSet({ ids, positions: undefined, before }, count);
	}
}

function isAmong(line: Line, length: number, id: string): boolean {
	const { ids } = line;
	if (length <= few) {
		for (let at = 0; at < length; at++) if (ids[at] === id) return true;
		return false;
	}
	line.positions ??= new Map(ids.map((each, at) => [each, at]));
	const position = line.positions.get(id);
	return position !== undefined && position < length;
}
