// Prepares the schema of a client's tool for validation here. It removes regular expressions, which the client chooses
// and which could block the shared event loop indefinitely (keeps I7). Everything the whole schema accepts is accepted:
// keywords that would refuse more without its patterns are removed with them. The model sees the whole schema.
import { invalidInput } from "./client-errors.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Maximum nesting depth of a schema. */
const deepest = 50;

/** Keywords that hold a schema, a list of schemas, or schemas by name. */
const inner = [
	"items",
	"prefixItems",
	"additionalItems",
	"additionalProperties",
	"propertyNames",
	"then",
	"else",
	"anyOf",
	"allOf",
];
/** Keywords that refuse more if the schemas they hold refuse less. */
const turning = ["not", "oneOf", "if", "contains"];
const byName = ["properties", "$defs", "definitions", "dependentSchemas"];

/**
 * Returns the schema without `pattern` and `patternProperties`, and without the keywords that depend on them to refuse.
 * @throws HoldfastError `invalid_input` for a schema that is nested too deeply.
 */
export function withoutPatterns(schema: Schema, field: string): Schema {
	const found = { patterns: 0 };
	const left = bare(schema, field, found, 0) as Schema;
	return found.patterns === 0 ? schema : left;
}

function bare(schema: unknown, field: string, found: { patterns: number }, depth: number): unknown {
	const barer = (each: unknown): unknown => bare(each, field, found, depth + 1);
	if (depth > deepest) throw invalidInput(field, `is nested more than ${deepest} deep`);
	if (typeof schema !== "object" || schema === null) return schema;
	if (Array.isArray(schema)) return schema.map(barer);
	const { pattern, patternProperties, ...rest } = schema as Record<string, unknown>;
	if (pattern !== undefined || patternProperties !== undefined) found.patterns++;
	// Values that a pattern would have accepted are accepted.
	if (patternProperties !== undefined && rest.additionalProperties !== undefined)
		rest.additionalProperties = true;
	for (const name of inner) if (rest[name] !== undefined) rest[name] = barer(rest[name]);
	for (const name of turning) {
		if (rest[name] === undefined) continue;
		const before = found.patterns;
		barer(rest[name]);
		// The target of a reference may have patterns, too.
		const isWhole = found.patterns === before && !JSON.stringify(rest[name]).includes('"$ref"');
		if (!isWhole) delete rest[name];
		if (!isWhole && name === "if") for (const then of ["then", "else"]) delete rest[then];
	}
	for (const name of byName) {
		const schemas = rest[name];
		if (typeof schemas !== "object" || schemas === null) continue;
		rest[name] = Object.fromEntries(Object.entries(schemas).map(([key, each]) => [key, barer(each)]));
	}
	return rest;
}
