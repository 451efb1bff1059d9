// Which zod schemas the arguments of tools, prompts and effects can use. They are a subset that every provider
// understands, nested at most seven levels deep.
import { isRecord } from "./check-fields.ts";
import { invalidDefinition, type Subject } from "./invalid-definition.ts";

/** Maximum number of wrappers around a value below the top-level object. */
const deepest = 7;
const plain = new Set(["string", "number", "boolean", "null", "unknown"]);

type Definition = Readonly<Record<string, unknown>> & { readonly type: string };

function definitionOf(schema: unknown): Definition | undefined {
	const inner = isRecord(schema) ? schema._zod : undefined;
	const definition = isRecord(inner) ? inner.def : undefined;
	return isRecord(definition) && typeof definition.type === "string" ? (definition as Definition) : undefined;
}

/** Refuses a schema that is not a zod object of allowed types, naming the path. */
export function checkSchema(subject: Subject, field: string, schema: unknown): void {
	const definition = definitionOf(schema);
	if (definition === undefined || definition.type !== "object")
		throw invalidDefinition(subject, field, "must be a zod 4 object, `z.object({ … })`");
	for (const [name, node] of Object.entries(definition.shape as object))
		checkNode(subject, `${field}.${name}`, node, 0);
}

function checkNode(subject: Subject, path: string, schema: unknown, wrappers: number): void {
	const definition = definitionOf(schema);
	const type = definition?.type;
	if (definition === undefined || type === undefined)
		throw invalidDefinition(subject, path, "is not a zod 4 schema");
	if (plain.has(type)) return;
	if (type === "literal" || type === "enum") {
		checkValues(subject, path, Object.values((definition.values ?? definition.entries) as object));
		return;
	}
	const inner = innerOf(definition);
	if (inner === undefined)
		throw invalidDefinition(subject, path, `has the zod type ${type}, which arguments cannot have`);
	if (wrappers === deepest)
		throw invalidDefinition(subject, path, `is nested more than ${deepest} deep, which arguments cannot be`);
	if (type === "record" && definitionOf(definition.keyType)?.type !== "string")
		throw invalidDefinition(subject, path, "must be a record with string keys");
	if (type === "union" && inner.length < 2)
		throw invalidDefinition(subject, path, "must be a union of two types or more");
	for (const [step, node] of inner) checkNode(subject, `${path}${step}`, node, wrappers + 1);
}

/** Returns the schemas inside a wrapper, each with the path step that leads to it; undefined for other types. */
function innerOf(definition: Definition): readonly (readonly [step: string, schema: unknown])[] | undefined {
	switch (definition.type) {
		case "optional":
		case "nullable":
		case "default":
			return [["", definition.innerType]];
		case "array":
			return [["[]", definition.element]];
		case "object":
			return Object.entries(definition.shape as object).map(([name, node]) => [`.${name}`, node]);
		case "record":
			return [[".*", definition.valueType]];
		case "union":
			return (definition.options as unknown[]).map((option, at) => [`|${at}`, option]);
		default:
			return undefined;
	}
}

function checkValues(subject: Subject, path: string, values: readonly unknown[]): void {
	if (values.some((value) => value !== null && !["string", "number", "boolean"].includes(typeof value)))
		throw invalidDefinition(subject, path, "can only have strings, numbers, booleans and null as values");
}
