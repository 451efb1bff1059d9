// Parameters as engines see them: own data in objects without a prototype. Nothing of the caller's is called, not even a
// getter, and no name leads out of the data.
import { type Budget, limitExceeded } from "./budget.ts";

/** A value that engines may read. */
export type PlainValue = string | number | boolean | null | undefined | readonly PlainValue[] | PlainObject;

/** Fields of their own alone. */
export interface PlainObject {
	readonly [name: string]: PlainValue;
}

/** Names that are never data: in every engine they count as missing. */
const reserved: ReadonlySet<string> = new Set(["constructor", "__proto__"]);
const maximalDepth = 100;

/** A copy of data; functions, symbols and accessors are left out. A value that is there twice is charged twice. */
export function plainParams(params: Readonly<Record<string, unknown>>, budget: Budget): PlainObject {
	return plainObject(params, budget, 0);
}

function plainObject(given: object, budget: Budget, depth: number): PlainObject {
	const copy: Record<string, PlainValue> = Object.create(null);
	for (const name of Object.keys(given)) {
		budget.step();
		if (reserved.has(name)) continue;
		const value = plainValue(own(given, name), budget, depth);
		if (value !== undefined) copy[name] = value;
	}
	return copy;
}

function plainValue(value: unknown, budget: Budget, depth: number): PlainValue {
	switch (typeof value) {
		case "string":
		case "number":
		case "boolean":
			return value;
		case "bigint":
			return String(value);
		case "object":
			break;
		default:
			return undefined;
	}
	if (value === null) return null;
	if (depth === maximalDepth)
		throw limitExceeded(`finds parameters nested deeper than ${maximalDepth}, or in a circle`);
	if (value instanceof Date) return timeOf(value);
	if (!Array.isArray(value)) return plainObject(value, budget, depth + 1);
	budget.step(value.length);
	const copy: PlainValue[] = [];
	// A function in a list leaves an empty place, so that the others keep theirs.
	for (let index = 0; index < value.length; index++)
		copy.push(plainValue(own(value, index), budget, depth + 1) ?? null);
	return copy;
}

function own(from: object, name: string | number): unknown {
	return Object.getOwnPropertyDescriptor(from, name)?.value;
}

function timeOf(date: Date): string | undefined {
	const time = Date.prototype.getTime.call(date);
	return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** A field of plain data: own fields, places and length of lists, length of texts. */
export function fieldOf(value: PlainValue, name: string): PlainValue {
	if (typeof value === "string") return name === "length" ? value.length : undefined;
	if (typeof value !== "object" || value === null) return undefined;
	if (reserved.has(name) || !Object.hasOwn(value, name)) return undefined;
	return (value as PlainObject)[name];
}

/** A field of a field; a name that itself has dots goes first. */
export function fieldAt(value: PlainObject, path: string): PlainValue {
	const direct = fieldOf(value, path);
	if (direct !== undefined || !path.includes(".")) return direct;
	return path.split(".").reduce<PlainValue>(fieldOf, value);
}

/** A value as text: what is missing is empty, what is not a text, a number or a boolean is JSON. */
export function textOf(value: unknown): string {
	if (value === undefined || value === null) return "";
	return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Falsy values in blocks, in Handlebars and Mustache alike: also an empty list. */
export function isEmpty(value: PlainValue): boolean {
	if (Array.isArray(value)) return value.length === 0;
	return !value && value !== 0;
}
