// Rules of a strict JSON parser, and schema rules of all providers.

const loneHigh = /(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])/;
const loneLow = /(?<!\\u[dD][89abAB][0-9a-fA-F]{2})(?<!\\)(?:\\\\)*\\u[dD][c-fC-F][0-9a-fA-F]{2}/;

// biome-ignore lint/suspicious/noExplicitAny: the bodies of five providers, of which each rule reads what it needs
export type Json = Record<string, any>;

/** Returns why a parser rejects a body; undefined if it does not. */
export function jsonFault(raw: string): string | undefined {
	if (loneHigh.test(raw) || loneLow.test(raw)) return "the body contains half a surrogate pair";
	return undefined;
}

const types = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

/** Returns why a JSON Schema 2020-12 validator rejects a schema; undefined if it does not. */
export function schemaFault(schema: unknown, at: string): string | undefined {
	if (typeof schema === "boolean") return undefined;
	if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return `${at} is no schema`;
	const {
		type,
		required,
		enum: choices,
		items,
		properties,
		exclusiveMinimum,
		exclusiveMaximum,
	} = schema as Json;
	const named = type === undefined ? [] : [type].flat();
	if (named.some((each) => !types.has(each)) || (Array.isArray(type) && type.length === 0))
		return `${at} has the type ${JSON.stringify(type)}`;
	if (
		required !== undefined &&
		!(Array.isArray(required) && required.every((each) => typeof each === "string"))
	)
		return `${at}.required is no list of names`;
	if (choices !== undefined && !(Array.isArray(choices) && choices.length > 0)) return `${at}.enum is empty`;
	if (typeof exclusiveMinimum === "boolean" || typeof exclusiveMaximum === "boolean")
		return `${at} has a bound of draft 4`;
	if (Array.isArray(items)) return `${at}.items is a list`;
	if (named.includes("array") && items === undefined) return `${at} is an array without items`;
	if (type === "object" && typeof properties !== "object") return `${at} is an object without properties`;
	for (const [name, inner] of innerSchemas(schema as Json)) {
		const fault = schemaFault(inner, `${at}.${name}`);
		if (fault !== undefined) return fault;
	}
	return undefined;
}

function* innerSchemas(schema: Json): Generator<[string, unknown]> {
	for (const map of ["properties", "$defs", "definitions", "patternProperties"])
		for (const [name, inner] of Object.entries(schema[map] ?? {})) yield [`${map}.${name}`, inner];
	for (const list of ["anyOf", "oneOf", "allOf", "prefixItems"])
		for (const [index, inner] of (schema[list] ?? []).entries()) yield [`${list}.${index}`, inner];
	for (const one of ["items", "additionalProperties", "not"])
		if (schema[one] !== undefined) yield [one, schema[one]];
}

const refusedAtRoot = ["anyOf", "oneOf", "allOf", "not", "enum", "$ref"];

/** Returns why a provider rejects the schema of a tool's parameters. */
export function parametersFault(schema: Json | undefined, at: string): string | undefined {
	if (schema?.type !== "object") return `${at} must be of the type object`;
	const atRoot = refusedAtRoot.find((name) => schema[name] !== undefined);
	return atRoot === undefined ? schemaFault(schema, at) : `${at} has ${atRoot} at its root`;
}

/** Returns the first fault found by a list of checks. */
export function firstOf(...checks: (() => string | undefined)[]): string | undefined {
	for (const check of checks) {
		const fault = check();
		if (fault !== undefined) return fault;
	}
	return undefined;
}

/** Returns the first fault among the members of a list. */
export function eachOf<Member>(
	list: readonly Member[] | undefined,
	check: (member: Member, index: number) => string | undefined,
): string | undefined {
	for (const [index, member] of (list ?? []).entries()) {
		const fault = check(member, index);
		if (fault !== undefined) return fault;
	}
	return undefined;
}
