// Sorts the matching values, and returns a range of them.
import type { QueryOptions } from "../contract/index.ts";
import { fieldOf, invalid } from "./match.ts";

/** Returns the requested range of the matches. */
export function answered(matches: readonly unknown[], options: QueryOptions): unknown[] {
	const { sort } = options;
	const { offset, limit } = rangeOf(options);
	const ordered = sort === undefined ? matches : matches.toSorted(comparerOf(sort));
	return ordered.slice(offset, limit === undefined ? undefined : offset + limit);
}

/**
 * Validates limit and offset.
 * @throws HoldfastError `QUERY_INVALID` if one is not an integer of at least 0.
 */
export function rangeOf(options: { readonly limit?: number; readonly offset?: number }): {
	readonly limit: number | undefined;
	readonly offset: number;
} {
	const { limit, offset = 0 } = options;
	if (limit !== undefined) demandCount("limit", limit);
	demandCount("offset", offset);
	return { limit, offset };
}

/** @throws HoldfastError `QUERY_INVALID` if it is not an integer of at least 0. */
export function demandCount(name: string, count: number): void {
	if (!Number.isSafeInteger(count) || count < 0)
		throw invalid(`\`${name}\` must be an integer of at least 0, not ${String(count)}.`);
}

function comparerOf(
	sort: Readonly<Record<string, "asc" | "desc">>,
): (one: unknown, other: unknown) => number {
	const fields = Object.entries(sort).map(([field, direction]) => {
		if (direction !== "asc" && direction !== "desc")
			throw invalid(`${JSON.stringify(field)} must be sorted "asc" or "desc".`);
		return { path: field.split("."), sign: direction === "asc" ? 1 : -1 };
	});
	return (one, other) => {
		for (const { path, sign } of fields) {
			const order = compare(fieldOf(one, path), fieldOf(other, path));
			if (order !== 0) return order * sign;
		}
		return 0;
	};
}

/** The sort order of value kinds: values without the field come last when ascending. */
const kinds: readonly string[] = ["null", "boolean", "number", "string", "object", "undefined"];

function compare(one: unknown, other: unknown): number {
	const byKind = kinds.indexOf(kindOf(one)) - kinds.indexOf(kindOf(other));
	if (byKind !== 0) return byKind;
	if (typeof one === "object" || one === undefined) return 0;
	return (one as number) < (other as number) ? -1 : (one as number) > (other as number) ? 1 : 0;
}

function kindOf(value: unknown): string {
	return value === null ? "null" : typeof value;
}
