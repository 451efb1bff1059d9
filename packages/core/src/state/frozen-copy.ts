// Deeply frozen copies of the caller's values: later changes by the caller do not affect a state, and no reader can
// change one. Values other than plain data, bytes or dates (functions, class instances) are kept unchanged.

/** Data that cannot be frozen, only copied. */
type Leaf = Date | ArrayBuffer | ArrayBufferView;

/** Copied values with their copies, so that shared and circular references are preserved. */
type Copied = Map<object, object>;

/**
 * Returns a frozen copy. Reading binary data or a date from it returns a new copy each time, because neither can be
 * frozen.
 */
export function frozenCopy<T>(value: T): T {
	const copied: Copied = new Map();
	const copy = copyOf(value, copied);
	fill(copied);
	return copy as T;
}

/** Sets a member of an object to a frozen copy of a value. */
export function holdFrozenCopy(holder: object, key: string, value: unknown): void {
	const copied: Copied = new Map();
	place(holder, key, value, copied);
	fill(copied);
}

/**
 * Returns a frozen record like the given one with one member set. Members keep their order; `__proto__` is treated like
 * any other name.
 */
export function withMember(
	record: Readonly<Record<string, unknown>>,
	key: string,
	value: unknown,
): Readonly<Record<string, unknown>> {
	const copy = {};
	for (const name of Object.keys(record)) {
		if (name === key) holdFrozenCopy(copy, key, value);
		else Object.defineProperty(copy, name, Object.getOwnPropertyDescriptor(record, name) ?? {});
	}
	if (!Object.hasOwn(copy, key)) holdFrozenCopy(copy, key, value);
	return Object.freeze(copy);
}

/** Returns the copy of an object, which `fill` completes later. */
function copyOf(value: unknown, copied: Copied): unknown {
	if (typeof value !== "object" || value === null) return value;
	if (isLeaf(value)) return copyLeaf(value);
	if (!Array.isArray(value) && !isPlain(value)) return value;
	const known = copied.get(value);
	if (known !== undefined) return known;
	const copy = Array.isArray(value) ? [] : {};
	copied.set(value, copy);
	return copy;
}

/**
 * Fills each copy, and those that are added in the process. Not recursive, because data may be nested deeper than the
 * stack.
 */
function fill(copied: Copied): void {
	for (const [value, copy] of copied) {
		if (Array.isArray(value)) {
			for (let index = 0; index < value.length; index++) place(copy, index, value[index], copied);
		} else {
			for (const key of Object.keys(value)) {
				place(copy, key, (value as Record<string, unknown>)[key], copied);
			}
		}
		Object.freeze(copy);
	}
}

function place(holder: object, key: string | number, value: unknown, copied: Copied): void {
	if (isLeaf(value)) {
		const held = copyLeaf(value);
		define(holder, key, { get: () => copyLeaf(held) });
	} else if (key === "__proto__") {
		define(holder, key, { value: copyOf(value, copied), writable: true }); // an assignment would set the prototype
	} else {
		(holder as Record<string | number, unknown>)[key] = copyOf(value, copied);
	}
}

function define(holder: object, key: string | number, held: PropertyDescriptor): void {
	Object.defineProperty(holder, key, { ...held, enumerable: true, configurable: true });
}

function copyLeaf(leaf: Leaf): Leaf {
	if (leaf instanceof Date) return new Date(leaf.getTime());
	if (leaf instanceof Uint8Array) return new Uint8Array(leaf);
	return structuredClone(leaf);
}

function isLeaf(value: unknown): value is Leaf {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
	return value instanceof Date || ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

function isPlain(value: object): boolean {
	const prototype = Object.getPrototypeOf(value);
	return prototype === Object.prototype || prototype === null;
}
