// Determines whether a value can be written as JSON and read back, without writing it.

import { encodeValue } from "./value-codec.ts";

/** The maximum nesting depth of objects and lists in a stored value. */
export const deepest = 500;

/** `deep`: nested too deeply, or circular. */
export type Storable = "yes" | "no" | "deep";

/** Whether `encodeValue` accepts a value. Visits each member once; plain data is neither copied nor written. */
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
 * Whether a value is an object that is stored as its members: it has no class and does not define its own stored form.
 * Includes objects from other realms.
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

/** "no" means that it has to be encoded to be sure. */
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
