// Whether a value can be written as JSON and read again, found out without writing it.

import { encodeValue } from "./value-codec.ts";

/** How many levels of objects and lists within each other a stored value may have. */
export const deepest = 500;

/** `deep` is what has more levels than are allowed, or is circular. */
export type Storable = "yes" | "no" | "deep";

/** Whether `encodeValue` takes a value. Costs a look at each member; plain data is not copied or written. */
export function storable(value: unknown): Storable {
	const found = look(value, deepest);
	if (found !== "no") return found;
	try {
		encodeValue(value);
		return "yes";
	} catch {
		return "no";
	}
}

/**
 * Whether a value is an object that is stored as the members it has: none of a class, and none that says itself how it
 * is stored. Objects of other realms count.
 */
export function isPlainRecord(value: unknown): value is Record<string, unknown> {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
	const given = value as { constructor: unknown; toJSON?: unknown };
	return (given.constructor === Object || isOfNoClass(value)) && typeof given.toJSON !== "function";
}

function isOfNoClass(value: object): boolean {
	const prototype: unknown = Object.getPrototypeOf(value);
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** "no" is what has to be encoded to be sure. */
function look(value: unknown, levels: number): Storable {
	switch (typeof value) {
		case "string":
		case "number":
		case "boolean":
		case "undefined":
			return "yes";
		case "object":
			return value === null ? "yes" : lookInside(value, levels);
		default:
			return "no";
	}
}

function lookInside(value: object, levels: number): Storable {
	if (value instanceof Uint8Array || value instanceof Date) return "yes";
	if (levels === 0) return "deep";
	if (!Array.isArray(value) && !isPlainRecord(value)) return "no";
	let found: Storable = "yes";
	for (const key in value) {
		const inner = look((value as Record<string, unknown>)[key], levels - 1);
		if (inner === "deep") return inner;
		if (inner === "no") found = inner;
	}
	return found;
}
