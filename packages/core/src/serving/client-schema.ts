// The schema of a tool that a client declared, as it is checked here: without regular expressions, which are the client's
// own and would run on everybody's event loop for as long as they like (keeps I7). The model sees the schema whole.
import { invalidInput } from "./execute-request.ts";

type Schema = Readonly<Record<string, unknown>>;

/** How deep a schema may be nested. */
const deepest = 50;

/** Members that hold a schema, a list of schemas, or schemas by name. */
const inner = [
	"items",
	"prefixItems",
	"additionalItems",
	"additionalProperties",
	"propertyNames",
	"contains",
	"not",
	"if",
	"then",
	"else",
	"anyOf",
	"oneOf",
	"allOf",
];
const byName = ["properties", "$defs", "definitions", "dependentSchemas"];

/**
 * The schema without `pattern` and `patternProperties`.
 * @throws HoldfastError `invalid_input` for one that is nested too deeply.
 */
export function withoutPatterns(schema: Schema, field: string): Schema {
	return bare(schema, field, 0) as Schema;
}

function bare(schema: unknown, field: string, depth: number): unknown {
	if (depth > deepest) throw invalidInput(field, `is nested more than ${deepest} deep`);
	if (typeof schema !== "object" || schema === null) return schema;
	if (Array.isArray(schema)) return schema.map((each) => bare(each, field, depth + 1));
	const { pattern: _, patternProperties, ...rest } = schema as Record<string, unknown>;
	// What a pattern would have let in is let in.
	if (patternProperties !== undefined && rest.additionalProperties !== undefined)
		rest.additionalProperties = true;
	for (const name of inner) if (rest[name] !== undefined) rest[name] = bare(rest[name], field, depth + 1);
	for (const name of byName) {
		const schemas = rest[name];
		if (typeof schemas !== "object" || schemas === null) continue;
		rest[name] = Object.fromEntries(
			Object.entries(schemas).map(([key, each]) => [key, bare(each, field, depth + 1)]),
		);
	}
	return rest;
}
