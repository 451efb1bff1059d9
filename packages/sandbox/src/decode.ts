// Values of the guest from their text. The text is not believed: a node of another shape than the guest's marshaller
// writes is an error, and nothing but plain data, collections, errors and buffers is ever made.
import type { Wire } from "./protocol.ts";

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

function malformed(): Error {
	return new Error("The sandbox sent a value that cannot be read");
}

function define(holder: object, key: PropertyKey, value: unknown): void {
	Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Makes the value. Throws an `Error` for a text that the marshaller did not make. */
export function decode({ text, buffers }: Wire): unknown {
	const wire: { readonly r: unknown; readonly n: unknown } = JSON.parse(text);
	if (!Array.isArray(wire?.n)) throw malformed();
	const nodes: readonly (readonly unknown[])[] = wire.n;
	const made: unknown[] = [];
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
				if (typeof token[1] !== "string" || !/^-?\d+$/.test(token[1])) throw malformed();
				return BigInt(token[1]);
			default:
				throw malformed();
		}
	};
	const shells = (node: readonly unknown[]): unknown => {
		switch (node[0]) {
			case "a":
				return [];
			case "s": {
				// A long empty array costs its readers more than it cost to send.
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
				if (buffer === undefined) throw malformed();
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
	for (const node of nodes) made.push(shells(node));
	for (const [index, node] of nodes.entries()) {
		if (node[0] !== "t") continue;
		const type = views[String(node[1])] as View | undefined;
		const buffer = value(node[2]);
		if (type === undefined || !(buffer instanceof ArrayBuffer)) throw malformed();
		made[index] = new type(buffer, Number(node[3]), Number(node[4]));
	}
	for (const [index, node] of nodes.entries()) fill(made[index], node, value);
	return value(wire.r);
}

function fill(target: unknown, node: readonly unknown[], value: (token: unknown) => unknown): void {
	const pairs = (from: number, add: (key: unknown, entry: unknown) => void): void => {
		for (let at = from; at < node.length; at += 2) add(node[at], node[at + 1]);
	};
	if (Array.isArray(target) && node[0] === "a") {
		target.length = node.length - 1;
		for (let at = 1; at < node.length; at++) {
			const token = node[at];
			if (!(Array.isArray(token) && token[0] === "h")) target[at - 1] = value(token);
		}
	} else if (Array.isArray(target)) pairs(2, (key, entry) => define(target, Number(key), value(entry)));
	else if (target instanceof Map) pairs(1, (key, entry) => target.set(value(key), value(entry)));
	else if (target instanceof Set) for (const token of node.slice(1)) target.add(value(token));
	else if (node[0] === "o") pairs(1, (key, entry) => define(target as object, String(key), value(entry)));
	else if (node[0] === "e" && node.length > 3)
		Object.defineProperty(target, "cause", { value: value(node[3]), writable: true, configurable: true });
}

/** A pattern that only the guest's engine knows arrives as one that matches nothing. */
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
	// The frames of this function are the host's and say nothing about the guest.
	Object.defineProperty(error, "stack", { value: `${name}: ${message}`, writable: true, configurable: true });
	return error;
}
