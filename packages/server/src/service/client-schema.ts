// The schema of a client's tool for validation here: without regular expressions, which are chosen by the client and
// could block the shared event loop indefinitely (keeps I7). Everything the whole schema accepts is accepted: keywords
// that would refuse more without its patterns are removed with them. The model sees the whole schema.
import { invalidInput } from "./client-errors.ts";

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
	"then",
	"else",
	"anyOf",
	"allOf",
];
/** Those that refuse more when what they hold refuses less. */
const turning = ["not", "oneOf", "if", "contains"];
const byName = ["properties", "$defs", "definitions", "dependentSchemas"];

/**
 * The schema without `pattern` and `patternProperties`, and without what depends on them to refuse.
 * @throws HoldfastError `invalid_input` for one that is nested too deeply.
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
