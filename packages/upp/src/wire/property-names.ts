// Converts a tool's schema and arguments to the property names that Anthropic accepts. Anthropic checks only those at the
// root.

import type { JSONSchema } from "../messages/index.ts";
import { acceptedPropertyName as accepted, wirePropertyName } from "./wire-names.ts";

/** Returns the arguments under the names that Anthropic accepts; the same object if it accepts all of them. */
export function wireArguments<Given extends Record<string, unknown>>(given: Given): Given {
	const names = Object.keys(given);
	if (names.every((name) => accepted.test(name))) return given;
	return Object.fromEntries(names.map((name) => [wirePropertyName(name), given[name]])) as Given;
}

/** Returns the schema of a tool under these names; the same object if Anthropic accepts all of them. */
export function withWireProperties(schema: JSONSchema): JSONSchema {
	const { properties = {}, required } = schema;
	const renamed = wireArguments(properties);
	if (renamed === properties) return schema;
	const names = Array.isArray(required) ? { required: required.map(wirePropertyName) } : {};
	return { ...schema, properties: renamed, ...names };
}

/** Returns the tool's own names by those that were sent instead; undefined if none was replaced. */
export function ownPropertyNames(schema: JSONSchema): ReadonlyMap<string, string> | undefined {
	const renamed = Object.keys(schema.properties ?? {}).filter((name) => !accepted.test(name));
	return renamed.length === 0 ? undefined : new Map(renamed.map((name) => [wirePropertyName(name), name]));
}
