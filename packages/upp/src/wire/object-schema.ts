// Converts the schema of a tool to a form that every provider accepts. Providers require an object with properties at the
// root, without unions there, and arrays with one schema for their items. The schema shown to a model may allow more than
// the tool does; the tool's own schema validates the arguments.

import type { JSONSchema } from "../messages/index.ts";
import { anyOf, isRecord, MergeWork, mergeObjects, type Schema, TooMuchWork } from "./merge-schemas.ts";
import { repairSchema, resolveReference } from "./repair-schema.ts";

const known = new WeakMap<object, JSONSchema>();

/** Converts the schema of an answer: like `objectSchema`, but only repaired if the answer cannot be an object. */
export function answerSchema(given: JSONSchema): JSONSchema {
	return mayBeObject(given) ? objectSchema(given) : repairSchema(given);
}

/** Returns the schema with an object at its root; the same object if it already has one. Cached per schema. */
export function objectSchema(given: JSONSchema): JSONSchema {
	if (typeof given !== "object" || given === null) return { type: "object", properties: {} };
	let made = known.get(given);
	if (made === undefined) {
		const repaired = repairSchema(given);
		made = completed(rootObject(repaired), true);
		known.set(given, made);
	}
	return made;
}

const unions = ["anyOf", "oneOf", "allOf"] as const;
/** Keywords that restrict the root object in ways that providers refuse. */
const refusedAtRoot = [...unions, "not", "if", "then", "else", "enum", "const", "$ref"] as const;
const mostReferences = 20;

/** Returns one object schema that accepts every object the schema accepts. */
function rootObject(schema: JSONSchema): JSONSchema {
	try {
		return asObject(schema, { root: schema, work: new MergeWork(), made: new Map() }, 0);
	} catch (error) {
		if (!(error instanceof TooMuchWork)) throw error;
		const { description, properties } = schema;
		return {
			type: "object",
			properties: isRecord(properties) ? properties : {},
			...(description === undefined ? {} : { description }),
		};
	}
}

interface Merging {
	readonly root: JSONSchema;
	readonly work: MergeWork;
	/** The converted forms of a schema by number of references, because many may lead to the same one. */
	readonly made: Map<JSONSchema, JSONSchema[]>;
}

function asObject(schema: JSONSchema, to: Merging, references: number): JSONSchema {
	const isPlain = schema.type === "object" && isRecord(schema.properties);
	if (isPlain && refusedAtRoot.every((name) => schema[name] === undefined)) return schema;
	const made = to.made.get(schema) ?? [];
	to.made.set(schema, made);
	made[references] ??= mergedObject(schema, to, references);
	return made[references];
}

function mergedObject(schema: JSONSchema, to: Merging, references: number): JSONSchema {
	to.work.spend([schema]);
	const target = typeof schema.$ref === "string" ? resolveReference(schema.$ref, to.root) : undefined;
	let object: JSONSchema = { ...schema, type: "object", properties: schema.properties ?? {} };
	for (const name of refusedAtRoot) delete object[name];
	if (isRecord(target) && references < mostReferences)
		object = mergeObjects([object, asObject(target as JSONSchema, to, references + 1)], "all", to.work);
	for (const name of unions) {
		const branches = schema[name];
		if (!Array.isArray(branches) || references >= mostReferences) continue;
		const objects = branches
			.filter((branch): branch is JSONSchema => isRecord(branch) && mayBeObject(branch))
			.map((branch) => asObject(branch, to, references + 1));
		if (objects.length === 0) continue;
		const branch = mergeObjects(objects, name === "allOf" ? "all" : "any", to.work);
		object = mergeObjects([object, branch], "all", to.work);
	}
	return object;
}

function mayBeObject({ type }: JSONSchema): boolean {
	return type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
}

/** Adds the missing `properties` of objects, schemas of array items, and schemas of required names. */
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
		set("items", members.length === 1 ? members[0] : anyOf(members));
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
