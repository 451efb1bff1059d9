// The schema of a tool as every provider accepts it. Providers want an object with properties at the root, without unions
// there, and lists with one schema for their items. What is shown to a model may allow more than the tool does; the tool's
// own schema checks the arguments.

import type { JSONSchema } from "../messages/index.ts";
import { repairSchema, resolveReference } from "./repair-schema.ts";

type Schema = JSONSchema | boolean;

const known = new WeakMap<object, JSONSchema>();

/** The schema of an answer: like `objectSchema`, and unchanged where the answer is no object. */
export function answerSchema(given: JSONSchema): JSONSchema {
	return mayBeObject(given) ? objectSchema(given) : repairSchema(given);
}

/** The schema with an object at its root; the same object where it is one already. Kept with the given schema. */
export function objectSchema(given: JSONSchema): JSONSchema {
	if (typeof given !== "object" || given === null) return { type: "object", properties: {} };
	let made = known.get(given);
	if (made === undefined) {
		const repaired = repairSchema(given);
		made = completed(asObject(repaired, repaired, 0), true);
		known.set(given, made);
	}
	return made;
}

const unions = ["anyOf", "oneOf", "allOf"] as const;
/** What says at the root which objects are allowed, in a way that providers refuse there. */
const refusedAtRoot = [...unions, "not", "if", "then", "else", "enum", "const", "$ref"] as const;
const mostReferences = 20;

/** One object schema that accepts whatever the schema accepts of objects. */
function asObject(schema: JSONSchema, root: JSONSchema, references: number): JSONSchema {
	const isPlain = schema.type === "object" && isRecord(schema.properties);
	if (isPlain && refusedAtRoot.every((name) => schema[name] === undefined)) return schema;
	const target = typeof schema.$ref === "string" ? resolveReference(schema.$ref, root) : undefined;
	let object: JSONSchema = { ...schema, type: "object", properties: schema.properties ?? {} };
	for (const name of refusedAtRoot) delete object[name];
	if (isRecord(target) && references < mostReferences)
		object = both(object, asObject(target as JSONSchema, root, references + 1));
	for (const name of unions) {
		const branches = schema[name];
		if (!Array.isArray(branches) || references >= mostReferences) continue;
		const objects = branches
			.filter((branch): branch is JSONSchema => isRecord(branch) && mayBeObject(branch))
			.map((branch) => asObject(branch, root, references + 1));
		if (objects.length === 0) continue;
		object = both(object, objects.reduce(name === "allOf" ? both : either));
	}
	return object;
}

function mayBeObject({ type }: JSONSchema): boolean {
	return type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
}

/** What both allow. */
function both(one: JSONSchema, other: JSONSchema): JSONSchema {
	const merged = merge(one, other, (a, b) => ({ allOf: [a, b] }));
	const required = [...new Set([...(one.required ?? []), ...(other.required ?? [])])];
	const open = [one, other].find(({ additionalProperties }) => additionalProperties !== undefined);
	// Where only one of them closes the object, it does not know the properties of the other.
	if (open?.additionalProperties === false) delete merged.additionalProperties;
	return required.length === 0 ? merged : { ...merged, required };
}

/** What one of them allows. */
function either(one: JSONSchema, other: JSONSchema): JSONSchema {
	const merged = merge(one, other, anyOf);
	if (one.additionalProperties !== false || other.additionalProperties !== false)
		delete merged.additionalProperties;
	const required = (one.required ?? []).filter((name) => other.required?.includes(name));
	delete merged.required;
	return required.length === 0 ? merged : { ...merged, required };
}

function merge(one: JSONSchema, other: JSONSchema, join: (a: Schema, b: Schema) => Schema): JSONSchema {
	const properties: Record<string, Schema> = { ...one.properties };
	for (const [name, schema] of Object.entries(other.properties ?? {})) {
		const before = Object.hasOwn(properties, name) ? properties[name] : undefined;
		const value = before === undefined || isSame(before, schema) ? schema : join(before, schema);
		Object.defineProperty(properties, name, { value, enumerable: true, writable: true, configurable: true });
	}
	const description = one.description ?? other.description;
	return {
		...other,
		...one,
		...(description === undefined ? {} : { description }),
		type: "object",
		properties,
	};
}

function anyOf(one: Schema, other: Schema): Schema {
	const branches = [one, other].flatMap((each) =>
		isRecord(each) && Array.isArray(each.anyOf) && Object.keys(each).length === 1 ? each.anyOf : [each],
	) as Schema[];
	const distinct = branches.filter((each, at) => branches.findIndex((b) => isSame(b, each)) === at);
	const values = distinct.map(valuesOf);
	// A union is often told apart by a constant: its values are one list.
	if (values.every((each) => each !== undefined)) return { enum: [...new Set(values.flat())] };
	return distinct.length === 1 ? (distinct[0] as Schema) : { anyOf: distinct };
}

function valuesOf(schema: Schema): readonly unknown[] | undefined {
	if (!isRecord(schema)) return undefined;
	const { type: _, const: constant, enum: choices, ...more } = schema as JSONSchema;
	if (Object.keys(more).length > 0) return undefined;
	return Array.isArray(choices) ? choices : constant === undefined ? undefined : [constant];
}

function isSame(one: Schema, other: Schema): boolean {
	return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** Every object with its properties, every list with a schema for its items, every name that is required with a schema. */
function completed(schema: JSONSchema, isRoot: boolean): JSONSchema {
	let made = schema;
	const set = (name: string, value: unknown): void => {
		if (made[name] === value) return;
		if (made === schema) made = { ...schema };
		if (value === undefined) delete made[name];
		else made[name] = value;
	};
	for (const name of ["properties", "patternProperties", "$defs", "definitions"])
		set(name, mapped(schema[name]));
	for (const name of unions) set(name, listed(schema[name]));
	for (const name of ["additionalProperties", "not"]) set(name, one(schema[name]));
	const type = made.type;
	if (type === "object" && !isRecord(made.properties)) set("properties", {});
	const missing = (made.required ?? []).filter((name) => !Object.hasOwn(made.properties ?? {}, name));
	if (missing.length > 0 && (isRoot || isRecord(made.properties)))
		set("properties", { ...made.properties, ...Object.fromEntries(missing.map((name) => [name, {}])) });
	if (
		isRecord(made.properties) &&
		type === undefined &&
		!isRoot &&
		unions.every((name) => made[name] === undefined)
	)
		set("type", "object");
	completeItems(schema, set, type);
	return made;
}

function completeItems(schema: JSONSchema, set: (name: string, value: unknown) => void, type: unknown): void {
	const { prefixItems, items } = schema;
	if (Array.isArray(prefixItems)) {
		const rest = items === undefined || items === true || items === false ? [] : [items as Schema];
		const members = [...(prefixItems as Schema[]), ...rest].map((each) => one(each) as Schema);
		set("items", members.reduce(anyOf));
		set("prefixItems", undefined);
		if (items === false && schema.maxItems === undefined) set("maxItems", prefixItems.length);
	} else if (type === "array" || items !== undefined) set("items", isRecord(items) ? one(items) : {});
}

function one(schema: unknown): unknown {
	return isRecord(schema) ? completed(schema as JSONSchema, false) : schema;
}

function mapped(map: unknown): unknown {
	if (!isRecord(map)) return map;
	const entries = Object.entries(map);
	const made = entries.map(([name, schema]) => [name, schema === true ? {} : one(schema)] as const);
	return made.every(([, schema], at) => schema === entries[at]?.[1]) ? map : Object.fromEntries(made);
}

function listed(list: unknown): unknown {
	if (!Array.isArray(list)) return list;
	const made = list.map(one);
	return made.every((schema, at) => schema === list[at]) ? list : made;
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
