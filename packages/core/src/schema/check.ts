// The internal vocabulary of compiled schemas. For a valid value, a check returns nothing and allocates nothing; paths
// are built on the way out, only if a problem was found.

import { HoldfastError } from "@holdfast/upp";

/** A problem, with its path relative to the checked value. */
export interface Finding {
	readonly path: PropertyKey[];
	readonly message: string;
}

/** Checks a value; undefined means that it is valid. */
export type Check = (value: unknown) => Finding[] | undefined;

/** A schema node being compiled. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** The context of keyword compilers: compiles nested schemas. Undefined means that every value is valid. */
export interface Compilation {
	compile(schema: unknown, place: readonly string[]): Check | undefined;
}

// Far more than anyone reads, but it keeps a huge invalid array from exhausting the memory.
const MOST_FINDINGS = 100;

/** Creates one finding at the value itself. */
export function found(message: string): Finding[] {
	return [{ path: [], message }];
}

/** Adds findings about a member to those of its container, and returns them all. */
export function add(all: Finding[] | undefined, below: Finding[], key?: PropertyKey): Finding[] {
	if (key !== undefined) for (const finding of below) finding.path.unshift(key);
	if (all === undefined) return below;
	if (all.length < MOST_FINDINGS) all.push(...below);
	return all;
}

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws an error that names the malformed position in a schema. */
export function malformed(place: readonly string[], why: string): HoldfastError {
	const path = place.join(".");
	return new HoldfastError(
		"invalid_schema",
		`The JSON Schema is malformed${path === "" ? "" : ` at "${path}"`}: ${why}.`,
		{ data: { path } },
	);
}

/** Returns a keyword's value, which must be a number if present. */
export function numberKeyword(
	node: SchemaNode,
	keyword: string,
	place: readonly string[],
): number | undefined {
	const value = node[keyword];
	if (value === undefined || (typeof value === "number" && Number.isFinite(value))) return value;
	throw malformed([...place, keyword], "expected a number");
}

/** Returns a keyword's value, which must be a count if present. */
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
