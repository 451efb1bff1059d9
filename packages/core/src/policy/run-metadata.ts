// Notes that the functions of one run share. It can be written to as a plain object, or as a Map.

/**
 * Notes of one run. `metadata.startedAt = 1` and `metadata.set("startedAt", 1)` do the same, as do `metadata.startedAt` and
 * `metadata.get("startedAt")`. A name that is also a method of this class is reached through the methods only.
 */
export class RunMetadata {
	/** The value of a name. */
	[name: string]: unknown;

	/** Returns the value of a name, or undefined. */
	get(name: string): unknown {
		return Object.hasOwn(this, name) ? this[name] : undefined;
	}

	/** Sets the value of a name. */
	set(name: string, value: unknown): this {
		Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
		return this;
	}

	/** Whether a name has a value. */
	has(name: string): boolean {
		return Object.hasOwn(this, name);
	}

	/** Removes a name. Returns whether it existed. */
	delete(name: string): boolean {
		return Object.hasOwn(this, name) && delete this[name];
	}

	/** Returns names and values, in the order in which they were set. */
	entries(): IterableIterator<[string, unknown]> {
		return Object.entries(this)[Symbol.iterator]();
	}

	/** Returns the names, in the order in which they were set. */
	keys(): IterableIterator<string> {
		return Object.keys(this)[Symbol.iterator]();
	}

	/** Calls a function with each value and its name. */
	forEach(each: (value: unknown, name: string) => void): void {
		for (const [name, value] of Object.entries(this)) each(value, name);
	}

	/** The number of names that have a value. */
	get size(): number {
		return Object.keys(this).length;
	}

	set size(value: unknown) {
		this.set("size", value);
	}

	[Symbol.iterator](): IterableIterator<[string, unknown]> {
		return this.entries();
	}
}
