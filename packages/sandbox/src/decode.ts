// Creates values of the guest from their nodes. The nodes are not trusted: nodes in a shape that the guest's marshaller
// does not write are an error, and only plain data, collections, errors and buffers are ever created.
import { malformed, type Nodes } from "./wire-reader.ts";

/** Nodes or elements processed per step. */
const stepLength = 500;

const views: Readonly<Record<string, unknown>> = {
	__proto__: null as never,
	Int8Array,
	Uint8Array,
	Uint8ClampedArray,
	Int16Array,
	Uint16Array,
	Int32Array,
	Uint32Array,
	BigInt64Array,
	BigUint64Array,
	Float16Array: (globalThis as Record<string, unknown>)["Float16Array"],
	Float32Array,
	Float64Array,
	DataView,
};
type View = new (buffer: ArrayBuffer, offset: number, length: number) => ArrayBufferView;

function define(holder: object, key: PropertyKey, value: unknown): void {
	Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Creates the value in steps. Throws an `Error` for nodes that the marshaller did not write. */
export function* decode({ root, nodes }: Nodes, buffers: readonly ArrayBuffer[]): Generator<void, unknown> {
	const made: unknown[] = [];
	const used = new Set<number>();
	const value = (token: unknown): unknown => {
		if (!Array.isArray(token)) {
			if (typeof token === "object" && token !== null) throw malformed();
			return token;
		}
		switch (token[0]) {
			case "@":
				if (!(Number.isInteger(token[1]) && token[1] >= 0 && token[1] < nodes.length)) throw malformed();
				return made[token[1]];
			case "u":
				return undefined;
			case "N":
				return Number.NaN;
			case "+":
				return Number.POSITIVE_INFINITY;
			case "-":
				return Number.NEGATIVE_INFINITY;
			case "0":
				return -0;
			case "b":
				return bigint(token[1]);
			default:
				throw malformed();
		}
	};
	const shells = (node: readonly unknown[]): unknown => {
		switch (node[0]) {
			case "a":
				return [];
			case "s": {
				// A long empty array costs its readers more than its sender.
				if (!(Number(node[1]) <= 100_000 + 10 * node.length)) throw malformed();
				const sparse: unknown[] = [];
				sparse.length = Number(node[1]);
				return sparse;
			}
			case "o":
				return {};
			case "m":
				return new Map();
			case "S":
				return new Set();
			case "d":
				return new Date(value(node[1]) as number);
			case "r":
				return pattern(String(node[1]), String(node[2]));
			case "B": {
				const buffer = buffers[Number(node[1])];
				if (buffer === undefined || used.has(Number(node[1]))) throw malformed();
				used.add(Number(node[1]));
				return buffer.slice(0);
			}
			case "e":
				return failure(String(node[1]), String(node[2]));
			case "w":
				return Object(value(node[1]));
			case "t":
				return undefined;
			default:
				throw malformed();
		}
	};
	for (const node of nodes) if (made.push(shells(node)) % stepLength === 0) yield;
	for (const [index, node] of nodes.entries()) {
		if (index % stepLength === 0) yield;
		if (node[0] !== "t") continue;
		const type = views[String(node[1])] as View | undefined;
		const buffer = value(node[2]);
		if (type === undefined || !(buffer instanceof ArrayBuffer)) throw malformed();
		made[index] = new type(buffer, Number(node[3]), Number(node[4]));
	}
	let entries = 0;
	for (const [index, node] of nodes.entries()) {
		const add = filler(made[index], node, value);
		if (add === undefined) continue;
		for (let at = add.from; at < node.length; at += add.width) {
			add.entry(at);
			if (++entries % stepLength === 0) yield;
		}
	}
	return value(root);
}

interface Filler {
	/** Index of the first entry, then of the next. */
	readonly from: number;
	readonly width: number;
	entry(at: number): void;
}

/** Returns the function that fills a node's value with its contents. */
function filler(
	target: unknown,
	node: readonly unknown[],
	value: (token: unknown) => unknown,
): Filler | undefined {
	const pairs = (from: number, add: (key: unknown, entry: unknown) => void): Filler => ({
		from,
		width: 2,
		entry: (at) => add(node[at], value(node[at + 1])),
	});
	if (Array.isArray(target) && node[0] === "a") {
		target.length = node.length - 1;
		const entry = (at: number): void => {
			const token = node[at];
			if (!(Array.isArray(token) && token[0] === "h")) target[at - 1] = value(token);
		};
		return { from: 1, width: 1, entry };
	}
	if (Array.isArray(target)) return pairs(2, (key, entry) => define(target, Number(key), entry));
	if (target instanceof Map) return pairs(1, (key, entry) => target.set(value(key), entry));
	if (target instanceof Set) return { from: 1, width: 1, entry: (at) => target.add(value(node[at])) };
	if (node[0] === "o") return pairs(1, (key, entry) => define(target as object, String(key), entry));
	if (node[0] !== "e" || node.length <= 3) return undefined;
	const entry = (at: number): void => {
		if (at === 3)
			Object.defineProperty(target, "cause", { value: value(node[3]), writable: true, configurable: true });
	};
	return { from: 3, width: 1, entry };
}

/** In base 16, which is parsed in linear time. */
function bigint(digits: unknown): bigint {
	const [, sign, magnitude] = (typeof digits === "string" && /^(-?)([\da-f]+)$/.exec(digits)) || [];
	if (magnitude === undefined) throw malformed();
	return sign === "-" ? -BigInt(`0x${magnitude}`) : BigInt(`0x${magnitude}`);
}

/** A pattern that only the guest's engine supports becomes one that matches nothing. */
function pattern(source: string, flags: string): RegExp {
	try {
		return new RegExp(source, flags);
	} catch {
		return /(?!)/;
	}
}

const errors: Readonly<Record<string, ErrorConstructor | undefined>> = {
	__proto__: null as never,
	EvalError,
	RangeError,
	ReferenceError,
	SyntaxError,
	TypeError,
	URIError,
};

function failure(name: string, message: string): Error {
	const error = new (errors[name] ?? Error)(message);
	if (error.name !== name)
		Object.defineProperty(error, "name", { value: name, writable: true, configurable: true });
	// The frames of this function belong to the host and must not reach the guest.
	Object.defineProperty(error, "stack", { value: `${name}: ${message}`, writable: true, configurable: true });
	return error;
}
