// A tool's schema and arguments under the property names that Anthropic accepts. It checks only those at the root.

import type { JSONSchema } from "../messages/index.ts";
import { acceptedPropertyName as accepted, wirePropertyName } from "./wire-names.ts";

/** The arguments under the names that Anthropic accepts; the same object where it accepts all of them. */
export function wireArguments<Given extends Record<string, unknown>>(given: Given): Given {
	const names = Object.keys(given);
	if (names.every((name) => accepted.test(name))) return given;
	return Object.fromEntries(names.map((name) => [wirePropertyName(name), given[name]])) as Given;
}

/** The schema of a tool under these names; the same object where Anthropic accepts all of them. */
export function withWireProperties(schema: JSONSchema): JSONSchema {
	const { properties = {}, required } = schema;
	const renamed = wireArguments(properties);
	if (renamed === properties) return schema;
	const names = Array.isArray(required) ? { required: required.map(wirePropertyName) } : {};
	return { ...schema, properties: renamed, ...names };
}

/** The tool's own names by those that were sent in their place; undefined where all are its own. */
export function ownPropertyNames(schema: JSONSchema): ReadonlyMap<string, string> | undefined {
	const renamed = Object.keys(schema.properties ?? {}).filter((name) => !accepted.test(name));
	return renamed.length === 0 ? undefined : new Map(renamed.map((name) => [wirePropertyName(name), name]));
}
