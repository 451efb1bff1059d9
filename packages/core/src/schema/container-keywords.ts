// The keywords about the content of a value: the properties of objects, the items of arrays.

import { nearest } from "@holdfast/upp";
import {
	add,
	type Check,
	type Compilation,
	countKeyword,
	type Finding,
	found,
	isRecord,
	malformed,
	quantity,
	type SchemaNode,
} from "./check.ts";
import { mayHint, spend } from "./effort.ts";
import { regularExpression } from "./patterns.ts";
import { contentKey } from "./scalar-keywords.ts";

interface Property {
	readonly key: string;
	readonly required: boolean;
	readonly check: Check | undefined;
	/** Whether every object inherits a property with this name, such as `constructor`. */
	readonly inherited: boolean;
}

/** `properties`, `required` and, if the schema has them, the keywords about all other properties. */
export function objectCheck(node: SchemaNode, place: readonly string[], to: Compilation): Check | undefined {
	const properties = declaredProperties(node, place, to);
	const checkRest = restCheck(node, place, to);
	if (properties.length === 0) return checkRest;
	return (value) => {
		if (!isRecord(value)) return undefined;
		let findings: Finding[] | undefined;
		for (const { key, required, check, inherited } of properties) {
			const member = inherited && !Object.hasOwn(value, key) ? undefined : value[key];
			if (member === undefined) {
				if (required) findings = add(findings, found(`missing required property ${JSON.stringify(key)}`));
			} else if (check !== undefined) {
				const below = check(member);
				if (below !== undefined) findings = add(findings, below, key);
			}
		}
		const below = checkRest?.(value);
		return below === undefined ? findings : add(findings, below);
	};
}

/** `items`, `prefixItems` (and draft 7's array of `items`), `minItems`, `maxItems`, `uniqueItems`. */
export function arrayCheck(node: SchemaNode, place: readonly string[], to: Compilation): Check | undefined {
	const oldTuple = Array.isArray(node.items);
	const prefix = (oldTuple ? node.items : node.prefixItems) ?? [];
	if (!Array.isArray(prefix)) throw malformed([...place, "prefixItems"], "expected an array of schemas");
	const first = prefix.map((schema, index) =>
		to.compile(schema, [...place, oldTuple ? "items" : "prefixItems", String(index)]),
	);
	const restKeyword = oldTuple ? "additionalItems" : "items";
	const rest = to.compile(node[restKeyword] ?? true, [...place, restKeyword]);
	const fewest = countKeyword(node, "minItems", place) ?? 0;
	const most = countKeyword(node, "maxItems", place) ?? Number.POSITIVE_INFINITY;
	const unique = node.uniqueItems === true;
	if (
		first.length === 0 &&
		rest === undefined &&
		fewest === 0 &&
		most === Number.POSITIVE_INFINITY &&
		!unique
	)
		return undefined;
	return (value) => {
		if (!Array.isArray(value)) return undefined;
		let findings: Finding[] | undefined;
		if (value.length < fewest)
			findings = found(`must have at least ${quantity(fewest, "item")}, has ${value.length}`);
		if (value.length > most)
			findings = add(findings, found(`must have at most ${quantity(most, "item")}, has ${value.length}`));
		if (unique) findings = addRepeated(findings, value);
		for (let index = 0; index < value.length; index++) {
			const check = index < first.length ? first[index] : rest;
			const below = check?.(value[index]);
			if (below !== undefined) findings = add(findings, below, index);
		}
		return findings;
	};
}

function declaredProperties(node: SchemaNode, place: readonly string[], to: Compilation): Property[] {
	const { properties = {}, required = [] } = node;
	if (!isRecord(properties)) throw malformed([...place, "properties"], "expected an object of schemas");
	if (!Array.isArray(required) || !required.every((key) => typeof key === "string"))
		throw malformed([...place, "required"], "expected an array of property names");
	const isRequired = new Set(required);
	return [...new Set([...Object.keys(properties), ...isRequired])].map((key) => ({
		key,
		required: isRequired.has(key),
		check: Object.hasOwn(properties, key)
			? to.compile(properties[key], [...place, "properties", key])
			: undefined,
		inherited: key in Object.prototype,
	}));
}

// patternProperties, additionalProperties, propertyNames, minProperties, maxProperties: these iterate over all keys.
function restCheck(node: SchemaNode, place: readonly string[], to: Compilation): Check | undefined {
	const { properties = {}, patternProperties = {}, additionalProperties = true } = node;
	if (!isRecord(patternProperties))
		throw malformed([...place, "patternProperties"], "expected an object of schemas");
	const known = new Set(Object.keys(properties as object));
	const patterns = Object.entries(patternProperties).map(([pattern, schema]) => ({
		pattern: regularExpression(pattern, [...place, "patternProperties"]),
		check: to.compile(schema, [...place, "patternProperties", pattern]),
	}));
	const closed = additionalProperties === false;
	const additional = closed
		? undefined
		: to.compile(additionalProperties, [...place, "additionalProperties"]);
	const names = to.compile(node.propertyNames ?? true, [...place, "propertyNames"]);
	const fewest = countKeyword(node, "minProperties", place) ?? 0;
	const most = countKeyword(node, "maxProperties", place) ?? Number.POSITIVE_INFINITY;
	const counts = fewest > 0 || most < Number.POSITIVE_INFINITY;
	if (!closed && !counts && patterns.length === 0 && additional === undefined && names === undefined)
		return undefined;
	return (value) => {
		if (!isRecord(value)) return undefined;
		const keys = Object.keys(value).filter((key) => value[key] !== undefined);
		let findings: Finding[] | undefined;
		if (keys.length < fewest)
			findings = found(`must have at least ${quantity(fewest, "property")}, has ${keys.length}`);
		if (keys.length > most)
			findings = add(findings, found(`must have at most ${quantity(most, "property")}, has ${keys.length}`));
		for (const key of keys) {
			let matched = known.has(key);
			spend(patterns.length);
			for (const { pattern, check } of patterns) {
				if (!pattern.test(key)) continue;
				matched = true;
				const below = check?.(value[key]);
				if (below !== undefined) findings = add(findings, below, key);
			}
			const below = matched
				? undefined
				: closed
					? unknownProperty(key, known, value)
					: additional?.(value[key]);
			if (below !== undefined) findings = add(findings, below, closed ? undefined : key);
			if (names?.(key) !== undefined)
				findings = add(findings, found(`${JSON.stringify(key)} is not allowed as a property name`));
		}
		return findings;
	};
}

function unknownProperty(key: string, known: ReadonlySet<string>, value: Record<string, unknown>): Finding[] {
	const meant = mayHint()
		? nearest(
				key,
				[...known].filter((name) => !Object.hasOwn(value, name)),
			)
		: undefined;
	const hint = meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`;
	return found(`unknown property ${JSON.stringify(key)}${hint}`);
}

function addRepeated(findings: Finding[] | undefined, items: readonly unknown[]): Finding[] | undefined {
	const seen = new Map<unknown, number>();
	for (const [index, item] of items.entries()) {
		const key = contentKey(item);
		const earlier = seen.get(key);
		if (earlier !== undefined)
			return add(findings, found(`must not repeat an item; items ${earlier} and ${index} are the same`));
		seen.set(key, index);
	}
	return findings;
}
