// Parameters in the form that engines see: own data in objects without a prototype. No code of the caller's is called,
// not even a getter, and no name leads out of the data.
import { type Budget, limitExceeded } from "./budget.ts";

/** A value that engines may read. */
export type PlainValue = string | number | boolean | null | undefined | readonly PlainValue[] | PlainObject;

/** Own fields only. */
export interface PlainObject {
	readonly [name: string]: PlainValue;
}

/** Names that are never data: in every engine they count as missing. */
const reserved: ReadonlySet<string> = new Set(["constructor", "__proto__"]);
const maximalDepth = 100;

/** Returns a copy of data without functions, symbols and accessors. A value that occurs twice is charged twice. */
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
		throw limitExceeded(`has parameters nested deeper than ${maximalDepth}, or circular ones`);
	if (value instanceof Date) return timeOf(value);
	if (!Array.isArray(value)) return plainObject(value, budget, depth + 1);
	budget.step(value.length);
	const copy: PlainValue[] = [];
	// A function in a list leaves an empty place, so that the other elements keep their index.
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

/** Returns a field of plain data: own fields, elements and length of lists, length of strings. */
export function fieldOf(value: PlainValue, name: string): PlainValue {
	if (typeof value === "string") return name === "length" ? value.length : undefined;
	if (typeof value !== "object" || value === null) return undefined;
	if (reserved.has(name) || !Object.hasOwn(value, name)) return undefined;
	return (value as PlainObject)[name];
}

/** Returns a nested field; a name that itself contains dots takes precedence. */
export function fieldAt(value: PlainObject, path: string): PlainValue {
	const direct = fieldOf(value, path);
	if (direct !== undefined || !path.includes(".")) return direct;
	return path.split(".").reduce<PlainValue>(fieldOf, value);
}

/** Returns a value as text: a missing value is empty; anything but a string, a number or a boolean is JSON. */
export function textOf(value: unknown): string {
	if (value === undefined || value === null) return "";
	return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Falsy values in blocks, in Handlebars and Mustache alike: an empty list is falsy too. */
export function isEmpty(value: PlainValue): boolean {
	if (Array.isArray(value)) return value.length === 0;
	return !value && value !== 0;
}
