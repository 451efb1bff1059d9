// The keywords about a value itself: type, enum, const, and the bounds of numbers and strings.

import { nearest } from "@holdfast/upp";
import {
	type Check,
	countKeyword,
	type Finding,
	found,
	isRecord,
	malformed,
	numberKeyword,
	quantity,
	type SchemaNode,
} from "./check.ts";
import { mayHint, spend, spendText } from "./effort.ts";
import { describeValue } from "./issue.ts";
import { regularExpression } from "./patterns.ts";

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
	string: (value) => typeof value === "string",
	number: (value) => typeof value === "number" && Number.isFinite(value),
	integer: (value) => Number.isInteger(value),
	boolean: (value) => typeof value === "boolean",
	null: (value) => value === null,
	object: isRecord,
	array: Array.isArray,
};

/** `type`: one name or a list of them. */
export function typeCheck(node: SchemaNode, place: readonly string[]): Check | undefined {
	if (node.type === undefined) return undefined;
	const names = [...new Set(Array.isArray(node.type) ? node.type : [node.type])];
	const tests = names.map((name) => {
		if (typeof name === "string" && Object.hasOwn(TYPES, name))
			return TYPES[name] as (value: unknown) => boolean;
		throw malformed(
			[...place, "type"],
			`${JSON.stringify(name)} is not a type; ${Object.keys(TYPES).join(", ")} are`,
		);
	});
	if (tests.length === 0) throw malformed([...place, "type"], "expected at least one type");
	const expected = names.join(" or ");
	const wrong = (value: unknown): Finding[] => found(`expected ${expected}, got ${describeValue(value)}`);
	const [only] = tests;
	if (tests.length === 1 && only !== undefined) return (value) => (only(value) ? undefined : wrong(value));
	return (value) => (tests.some((test) => test(value)) ? undefined : wrong(value));
}

const SHOWN_CHOICES = 20;

/** `enum` and `const`. Objects and arrays are compared by content. */
export function choiceCheck(node: SchemaNode, place: readonly string[]): Check | undefined {
	const choices = Object.hasOwn(node, "const") ? [node.const] : node.enum;
	if (choices === undefined) return undefined;
	if (!Array.isArray(choices)) throw malformed([...place, "enum"], "expected an array");
	const allowed = new Set(choices.map(contentKey));
	const shown = choices.slice(0, SHOWN_CHOICES).map(shownChoice);
	const others = choices.length > SHOWN_CHOICES ? ` or ${choices.length - SHOWN_CHOICES} others` : "";
	const list = shown.join(", ") + others;
	const expected = choices.length === 1 ? list : `one of ${list}`;
	const hasContent = choices.some((choice) => typeof choice === "object" && choice !== null);
	return (value) => {
		const isContent = typeof value === "object" && value !== null;
		if ((hasContent || !isContent) && allowed.has(contentKey(value))) return undefined;
		const meant =
			typeof value === "string" && mayHint() ? nearest(value, choices.filter(isString)) : undefined;
		const hint = meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`;
		return found(`expected ${expected}, got ${describeValue(value)}${hint}`);
	};
}

const longestChoice = 200;

function shownChoice(choice: unknown): string {
	const text = JSON.stringify(choice);
	return text.length <= longestChoice ? text : `${text.slice(0, longestChoice)}\u2026`;
}

/** This many characters of a value cost about as much as the check of a node. */
const charactersOfCheck = 20;

/** Returns a key that is equal for values of equal content, regardless of property order. */
export function contentKey(value: unknown): unknown {
	if (typeof value === "string") {
		spendText(value);
		return `"${value}`;
	}
	if (typeof value !== "object" || value === null) return value;
	const key = JSON.stringify(value, (_, member: unknown) =>
		isRecord(member) ? Object.fromEntries(Object.entries(member).sort(byName)) : member,
	);
	spend(Math.ceil(key.length / charactersOfCheck));
	return key;
}

/** `minimum`, `maximum`, their exclusive forms (numbers, or draft 4's booleans) and `multipleOf`. */
export function numberCheck(node: SchemaNode, place: readonly string[]): Check | undefined {
	const minimum = numberKeyword(node, "minimum", place);
	const maximum = numberKeyword(node, "maximum", place);
	const above = exclusiveBound(node, "exclusiveMinimum", minimum, place);
	const below = exclusiveBound(node, "exclusiveMaximum", maximum, place);
	const divisor = numberKeyword(node, "multipleOf", place);
	if (divisor !== undefined && divisor <= 0)
		throw malformed([...place, "multipleOf"], "expected more than 0");
	if ([minimum, maximum, above, below, divisor].every((bound) => bound === undefined)) return undefined;
	return (value) => {
		if (typeof value !== "number") return undefined;
		if (above !== undefined && value <= above) return found(`must be greater than ${above}, is ${value}`);
		if (minimum !== undefined && value < minimum) return found(`must be at least ${minimum}, is ${value}`);
		if (below !== undefined && value >= below) return found(`must be less than ${below}, is ${value}`);
		if (maximum !== undefined && value > maximum) return found(`must be at most ${maximum}, is ${value}`);
		if (divisor !== undefined && !isMultiple(value, divisor))
			return found(`must be a multiple of ${divisor}, is ${value}`);
		return undefined;
	};
}

/** `minLength` and `maxLength`, counted in Unicode characters, and `pattern`. */
export function stringCheck(node: SchemaNode, place: readonly string[]): Check | undefined {
	const shortest = countKeyword(node, "minLength", place) ?? 0;
	const longest = countKeyword(node, "maxLength", place) ?? Number.POSITIVE_INFINITY;
	const pattern =
		node.pattern === undefined ? undefined : regularExpression(node.pattern, [...place, "pattern"]);
	if (shortest === 0 && longest === Number.POSITIVE_INFINITY && pattern === undefined) return undefined;
	return (value) => {
		if (typeof value !== "string") return undefined;
		spendText(value);
		// A character is one or two code units, so characters are counted only near a bound.
		if (value.length < shortest * 2 && characters(value) < shortest)
			return found(`must have at least ${quantity(shortest, "character")}, has ${characters(value)}`);
		if (value.length > longest && characters(value) > longest)
			return found(`must have at most ${quantity(longest, "character")}, has ${characters(value)}`);
		if (pattern !== undefined && !pattern.test(value))
			return found(`must match the pattern ${pattern.source}, got ${describeValue(value)}`);
		return undefined;
	};
}

function exclusiveBound(
	node: SchemaNode,
	keyword: string,
	bound: number | undefined,
	place: readonly string[],
): number | undefined {
	if (typeof node[keyword] === "boolean") return node[keyword] ? bound : undefined;
	return numberKeyword(node, keyword, place);
}

function isMultiple(value: number, divisor: number): boolean {
	const quotient = value / divisor;
	return Math.abs(quotient - Math.round(quotient)) <= 4 * Number.EPSILON * Math.max(1, Math.abs(quotient));
}

function characters(text: string): number {
	spend(Math.floor(text.length / charactersOfCheck));
	let count = 0;
	for (const _ of text) count++;
	return count;
}

function isString(value: unknown): value is string {
	return typeof value === "string";
}

function byName([left]: [string, unknown], [right]: [string, unknown]): number {
	return left < right ? -1 : 1;
}
