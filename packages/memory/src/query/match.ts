// Matches values against queries, identically for every database. Only own members count, so `__proto__` is an ordinary
// field.
import { HoldfastError } from "@holdfast/upp";
import type { Query } from "../contract/index.ts";

type Condition = (field: unknown) => boolean;

/** Field names of the path to a member, outermost first. */
export type FieldPath = readonly string[];

/**
 * Compiles a query to a function that tests a value.
 * @throws HoldfastError `QUERY_INVALID` for an unknown operator or an operand that cannot be compared.
 */
export function matcherOf(query: Query): (value: unknown) => boolean {
	if (typeof query !== "object" || query === null || Array.isArray(query))
		throw invalid("A query must be an object of fields and their conditions.");
	const conditions = Object.entries(query).map(([field, wanted]) => {
		if (field.startsWith("$")) throw unknownOperator(field);
		const path = field.split(".");
		const condition = conditionOf(field, wanted);
		return (value: unknown): boolean => condition(fieldOf(value, path));
	});
	return (value) => conditions.every((condition) => condition(value));
}

/** Returns a member of a value, or undefined. */
export function fieldOf(value: unknown, path: FieldPath): unknown {
	let at = value;
	for (const name of path) {
		if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
		at = (at as Record<string, unknown>)[name];
	}
	return at;
}

function conditionOf(field: string, wanted: unknown): Condition {
	if (wanted === undefined) throw invalid(`The field ${JSON.stringify(field)} is compared with undefined.`);
	if (!isOperators(wanted)) return (found) => isSame(found, wanted);
	const conditions = Object.entries(wanted).map(([operator, operand]) => comparisonOf(operator, operand));
	return (found) => conditions.every((condition) => condition(found));
}

/** Whether an object consists of operators. One without members is a value to equal. */
function isOperators(wanted: unknown): wanted is Record<string, unknown> {
	if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) return false;
	return Object.keys(wanted).some((name) => name.startsWith("$"));
}

function comparisonOf(operator: string, operand: unknown): Condition {
	if (operand === undefined) throw invalid(`${operator} compares with undefined.`);
	switch (operator) {
		case "$ne":
			return (found) => !isSame(found, operand);
		case "$gt":
			return ordering(operand, (order) => order > 0);
		case "$gte":
			return ordering(operand, (order) => order >= 0);
		case "$lt":
			return ordering(operand, (order) => order < 0);
		case "$lte":
			return ordering(operand, (order) => order <= 0);
		case "$in": {
			if (!Array.isArray(operand)) throw invalid("$in needs an array.");
			const simple = new Set(operand.filter((each) => typeof each !== "object" || each === null));
			const others = operand.filter((each) => typeof each === "object" && each !== null);
			return (found) => simple.has(found) || others.some((each) => isSame(found, each));
		}
		default:
			throw unknownOperator(operator);
	}
}

/** Compares numbers with numbers and texts with texts; other values are neither greater nor less. */
function ordering(operand: unknown, holds: (order: number) => boolean): Condition {
	if (typeof operand !== "number" && typeof operand !== "string")
		throw invalid("$gt, $gte, $lt and $lte need a number or a string.");
	return (found) =>
		typeof found === typeof operand &&
		holds((found as number | string) < operand ? -1 : (found as number | string) > operand ? 1 : 0);
}

function isSame(found: unknown, wanted: unknown): boolean {
	if (typeof found !== "object" || found === null || typeof wanted !== "object" || wanted === null)
		return found === wanted;
	if (Array.isArray(found) !== Array.isArray(wanted)) return false;
	const names = Object.keys(wanted);
	if (Object.keys(found).length !== names.length) return false;
	return names.every(
		(name) =>
			Object.hasOwn(found, name) &&
			isSame((found as Record<string, unknown>)[name], (wanted as Record<string, unknown>)[name]),
	);
}

/** Reports a problem with a query, a limit or a search. */
export function invalid(why: string): HoldfastError {
	return new HoldfastError("QUERY_INVALID", `The query cannot be answered: ${why}`);
}

function unknownOperator(name: string): HoldfastError {
	return invalid(
		`${JSON.stringify(name)} is not an operator. Use $ne, $gt, $gte, $lt, $lte and $in, on fields.`,
	);
}
