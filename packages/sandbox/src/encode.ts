// Encodes values of the host as text for the guest. It copies data, and assigns numbers to functions and promises, with
// which the guest can call and await them.
import { cutText, HoldfastError } from "@holdfast/upp";
import { maxDepth } from "./guest.ts";
import type { Wire } from "./protocol.ts";

/** The host's record of the capabilities that it passed to a guest. */
export interface Capabilities {
	/** Returns the number that the guest uses to call a function. */
	addFunction(call: (...given: unknown[]) => unknown, original: unknown): number;
	/** Returns the number that the guest uses to await a promise. */
	addPromise(promise: PromiseLike<unknown>): number;
}

const views = Object.getPrototypeOf(Uint8Array.prototype);
const viewName = Object.getOwnPropertyDescriptor(views, Symbol.toStringTag)?.get;

function refused(what: string): HoldfastError {
	return new HoldfastError(
		"value_not_transferable",
		`${what} cannot enter the sandbox: give data or functions`,
		{
			retryable: false,
		},
	);
}

/** @throws HoldfastError `value_not_transferable`, and the errors of the value's getters. */
export function encode(
	root: unknown,
	capabilities: Capabilities,
	maxLength: number = Number.POSITIVE_INFINITY,
): Wire {
	const seen = new Map<object, number>();
	const queue: { readonly value: object; readonly depth: number; readonly holder: unknown }[] = [];
	const buffers: ArrayBuffer[] = [];
	let length = 0;
	let depth = 0;
	const token = (value: unknown, holder?: unknown): unknown => {
		switch (typeof value) {
			case "string":
				length += value.length;
				return value;
			case "boolean":
				return value;
			case "number":
				if (Number.isNaN(value)) return ["N"];
				if (!Number.isFinite(value)) return [value > 0 ? "+" : "-"];
				return Object.is(value, -0) ? ["0"] : value;
			case "undefined":
				return ["u"];
			case "bigint":
				return ["b", String(value)];
			case "symbol":
				throw refused("A symbol");
		}
		if (value === null || value === undefined) return null;
		let index = seen.get(value);
		if (index === undefined) {
			if (depth >= maxDepth) throw refused(`A value of more than ${maxDepth} levels`);
			index = queue.push({ value, depth: depth + 1, holder }) - 1;
			seen.set(value, index);
		}
		return ["@", index];
	};
	const members = (value: object): unknown[] =>
		Object.keys(value).flatMap((key) => {
			length += key.length;
			return [key, token((value as Record<string, unknown>)[key], value)];
		});
	const node = (value: object, holder: unknown): unknown[] => {
		if (typeof value === "function") {
			const call = (...given: unknown[]): unknown => Reflect.apply(value, holder, given);
			return ["f", capabilities.addFunction(call, value), String(value.name)];
		}
		if (Array.isArray(value)) {
			if (value.length > 100_000)
				return [
					"s",
					value.length,
					...Object.keys(value)
						.filter(isIndex)
						.flatMap((key) => [Number(key), token(value[Number(key)], value)]),
				];
			return ["a", ...Array.from(value, (entry, index) => (index in value ? token(entry, value) : ["h"]))];
		}
		if (value instanceof Map)
			return ["m", ...[...value].flatMap(([key, entry]) => [token(key), token(entry)])];
		if (value instanceof Set) return ["S", ...[...value].map((entry) => token(entry))];
		if (value instanceof Date) return ["d", token(value.getTime())];
		if (value instanceof RegExp) return ["r", value.source, value.flags];
		const name = viewName?.call(value);
		if (name !== undefined) {
			const view = value as Uint8Array;
			return ["t", name, token(view.buffer), view.byteOffset, view.length];
		}
		if (value instanceof DataView)
			return ["t", "DataView", token(value.buffer), value.byteOffset, value.byteLength];
		if (value instanceof ArrayBuffer) {
			length += value.byteLength;
			return ["B", buffers.push(value.slice(0)) - 1];
		}
		if (value instanceof SharedArrayBuffer) throw refused("Shared memory");
		if (value instanceof Error) {
			const cause = Object.hasOwn(value, "cause") ? [token(value.cause)] : [];
			return ["e", String(value.name), String(value.message), ...cause];
		}
		if (value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef)
			throw refused("A weak reference");
		if (value instanceof Number || value instanceof String || value instanceof Boolean)
			return ["w", token(value.valueOf())];
		if (isThenable(value)) return ["p", capabilities.addPromise(value)];
		return ["o", ...members(value)];
	};
	const first = token(root);
	const nodes: unknown[] = [];
	for (let index = 0; index < queue.length; index++) {
		const entry = queue[index];
		if (entry === undefined) break;
		depth = entry.depth;
		nodes.push(node(entry.value, entry.holder));
		length += 16;
		if (length > maxLength) throw refused("A value larger than the memory limit");
	}
	return { text: JSON.stringify({ r: first, n: nodes }), buffers };
}

function isIndex(key: string): boolean {
	return String(Number(key) >>> 0) === key;
}

/** Whether a value is awaitable. Reads `then` once. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
	return (
		typeof value === "object" && value !== null && typeof (value as PromiseLike<unknown>).then === "function"
	);
}

/** Encodes an error, without functions and promises in it. */
export function encodeError(error: unknown): Wire {
	const text = (read: () => unknown, otherwise: string): string => {
		try {
			return cutText(String(read() ?? otherwise), 16_384);
		} catch {
			return otherwise;
		}
	};
	const isError = error instanceof Error;
	const name = isError ? text(() => error.name, "Error") : "Error";
	const message = isError
		? text(() => error.message, "")
		: text(() => error, "the host threw a value without a string form");
	return { text: JSON.stringify({ r: ["@", 0], n: [["e", name, message]] }), buffers: [] };
}
