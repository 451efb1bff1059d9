// The requirements of OpenAI's strict mode for the schema of an answer. AI SDK models use that mode by default.

import type { JSONSchema } from "../messages/index.ts";

const refused = [
	"allOf",
	"oneOf",
	"not",
	"if",
	"then",
	"else",
	"dependentRequired",
	"dependentSchemas",
	"patternProperties",
	"prefixItems",
	"unevaluatedProperties",
];
const spoken = ["type", "enum", "const", "anyOf", "$ref"];

/**
 * Whether strict mode accepts a schema: every object is closed, every property is required, and there are no unsupported
 * keywords.
 */
export function isClosedSchema(schema: unknown): boolean {
	return isRecord(schema) && schema.type === "object" && schema.anyOf === undefined && isClosed(schema);
}

function isClosed(schema: unknown): boolean {
	if (!isRecord(schema)) return false;
	if (refused.some((name) => schema[name] !== undefined)) return false;
	if (spoken.every((name) => schema[name] === undefined)) return false;
	const {
		type,
		properties = {},
		required = [],
		additionalProperties,
		items,
		anyOf = [],
	} = schema as JSONSchema;
	const isObject = type === "object" || (Array.isArray(type) && type.includes("object"));
	const all = new Set<string>(required);
	if (isObject && (additionalProperties !== false || !Object.keys(properties).every((name) => all.has(name))))
		return false;
	const isList = type === "array" || (Array.isArray(type) && type.includes("array"));
	if (isList && items === undefined) return false;
	const inner = [
		...Object.values(properties),
		...Object.values((schema.$defs as object | undefined) ?? {}),
		...Object.values((schema.definitions as object | undefined) ?? {}),
		...(items === undefined ? [] : [items]),
		...(anyOf as unknown[]),
	];
	return inner.every(isClosed);
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
