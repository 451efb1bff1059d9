// Values that can be stored: data that survives a JSON round trip unchanged.
import { cutText, HoldfastError } from "@holdfast/upp";

/** The deepest nesting; code that reads values recurses once per level. */
const deepest = 500;

/**
 * Serialises a value as JSON.
 * @throws HoldfastError `VALUE_NOT_SERIALISABLE` with the path of the part that is not serialisable.
 */
export function writtenValue(value: unknown): string {
	demandPlain(value, { path: [], above: new Set() });
	return JSON.stringify(value);
}

/** The current position of a check in a value. */
interface Place {
	readonly path: string[];
	readonly above: Set<object>;
}

function demandPlain(value: unknown, place: Place): void {
	const problem = problemOf(value, place.above);
	if (problem !== undefined) throw notSerialisable(place.path, problem);
	if (typeof value !== "object" || value === null) return;
	if (place.path.length >= deepest)
		throw notSerialisable(place.path, `an object nested more than ${deepest} levels deep`);
	place.above.add(value);
	// Iterates by index, because iterating over an array's members skips holes.
	const names = Array.isArray(value) ? value.keys() : Object.keys(value);
	for (const name of names) {
		place.path.push(String(name));
		demandPlain((value as Record<string | number, unknown>)[name], place);
		place.path.pop();
	}
	place.above.delete(value);
}

function problemOf(value: unknown, above: ReadonlySet<object>): string | undefined {
	switch (typeof value) {
		case "string":
		case "boolean":
			return undefined;
		case "number":
			return Number.isFinite(value) ? undefined : `the number ${value}`;
		case "object":
			break;
		case "undefined":
			return "undefined";
		default:
			return `a ${typeof value}`;
	}
	if (value === null) return undefined;
	if (above.has(value)) return "a circular structure";
	if (Array.isArray(value)) return undefined;
	const prototype = Object.getPrototypeOf(value);
	if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
		return `an object of the class ${prototype.constructor?.name ?? "unknown"}`;
	if (typeof (value as { toJSON?: unknown }).toJSON === "function")
		return "an object with a function `toJSON`";
	if (Object.getOwnPropertySymbols(value).length > 0) return "an object with symbols as names";
	return undefined;
}

function notSerialisable(path: readonly string[], what: string): HoldfastError {
	const place = path.length === 0 ? "The value" : `At "${cutText(path.join("."), 200)}" there`;
	return new HoldfastError(
		"VALUE_NOT_SERIALISABLE",
		`${place} is ${what}, which cannot be stored. Write plain data: objects, arrays, strings, finite numbers, booleans and null.`,
		{ data: { path: path.join(".") } },
	);
}
