// The inner vocabulary of compiled schemas: a check is silent for a valid value and allocates nothing then;
// places are put together on the way out, only when something was found.

import { HoldfastError } from "@holdfast/upp";

/** Something found wrong, with its place relative to the value that was checked. */
export interface Finding {
	readonly path: PropertyKey[];
	readonly message: string;
}

/** Looks at a value; undefined means that it is valid. */
export type Check = (value: unknown) => Finding[] | undefined;

/** A schema node being compiled. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** The context of keyword compilers: compiles nested schemas. Undefined means that everything is valid. */
export interface Compilation {
	compile(schema: unknown, place: readonly string[]): Check | undefined;
}

// Far more than anyone reads; keeps a huge wrong array from filling the memory.
const MOST_FINDINGS = 100;

/** One finding at the value itself. */
export function found(message: string): Finding[] {
	return [{ path: [], message }];
}

/** Adds findings about a member to those of its container; returns them once there is any. */
export function add(all: Finding[] | undefined, below: Finding[], key?: PropertyKey): Finding[] {
	if (key !== undefined) for (const finding of below) finding.path.unshift(key);
	if (all === undefined) return below;
	if (all.length < MOST_FINDINGS) all.push(...below);
	return all;
}

/** Whether a value is what JSON calls an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Says where a schema is malformed. */
export function malformed(place: readonly string[], why: string): HoldfastError {
	const path = place.join(".");
	return new HoldfastError(
		"invalid_schema",
		`The JSON Schema is malformed${path === "" ? "" : ` at "${path}"`}: ${why}.`,
		{ data: { path } },
	);
}

/** A keyword's value, which must be a number if present. */
export function numberKeyword(
	node: SchemaNode,
	keyword: string,
	place: readonly string[],
): number | undefined {
	const value = node[keyword];
	if (value === undefined || (typeof value === "number" && Number.isFinite(value))) return value;
	throw malformed([...place, keyword], "expected a number");
}

/** A keyword's value, which must be a count if present. */
export function countKeyword(
	node: SchemaNode,
	keyword: string,
	place: readonly string[],
): number | undefined {
	const value = numberKeyword(node, keyword, place);
	if (value === undefined || (Number.isInteger(value) && value >= 0)) return value;
	throw malformed([...place, keyword], "expected a whole number that is not negative");
}

/** "1 character", "2 characters". */
export function quantity(count: number, noun: string): string {
	if (count === 1) return `1 ${noun}`;
	return `${count} ${noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
}
