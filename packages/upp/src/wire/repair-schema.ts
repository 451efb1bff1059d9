// Converts schemas from people and programs to JSON Schema 2020-12: constructs of older drafts and careless generators
// are converted if their meaning is certain, and dropped if they have no meaning. A valid schema is returned as the
// same object.

import type { JSONSchema } from "../messages/index.ts";

/** Deeper schemas are cut: below this depth, anything is accepted. */
const deepest = 100;

const types: ReadonlySet<unknown> = new Set([
	"string",
	"number",
	"integer",
	"boolean",
	"object",
	"array",
	"null",
]);

/** Type names of other languages. A type that is not listed is ignored. */
const typeNames: ReadonlyMap<string, string> = new Map([
	["int", "integer"],
	["int32", "integer"],
	["int64", "integer"],
	["long", "integer"],
	["float", "number"],
	["double", "number"],
	["bool", "boolean"],
	["str", "string"],
	["text", "string"],
	["file", "string"],
	["date", "string"],
	["list", "array"],
	["dict", "object"],
]);

const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"] as const;
const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] as const;
const lists = ["anyOf", "oneOf", "allOf"] as const;
const maps = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"] as const;
const schemas = [
	"not",
	"if",
	"then",
	"else",
	"contains",
	"propertyNames",
	"additionalProperties",
	"unevaluatedProperties",
	"unevaluatedItems",
] as const;

/** A schema under repair. Its members are replaced in a copy, which is created for the first replacement. */
class Repair {
	readonly #given: JSONSchema;
	#copy: JSONSchema | undefined;

	constructor(given: JSONSchema) {
		this.#given = given;
	}

	get(name: string): unknown {
		return this.result[name];
	}

	/** Replaces a member; `undefined` removes it. */
	set(name: string, value: unknown): void {
		if (value === this.get(name)) return;
		this.#copy ??= { ...this.#given };
		if (value === undefined) delete this.#copy[name];
		else Object.defineProperty(this.#copy, name, { value, ...ordinary });
	}

	get result(): JSONSchema {
		return this.#copy ?? this.#given;
	}
}

const ordinary = { enumerable: true, writable: true, configurable: true };

/** Returns the schema as JSON Schema 2020-12. A value that is not a schema accepts anything. */
export function repairSchema(given: unknown): JSONSchema {
	const repaired = repair(given, deepest, given);
	return typeof repaired === "boolean" ? (repaired ? {} : { not: {} }) : repaired;
}

function repair(given: unknown, levels: number, root: unknown): JSONSchema | boolean {
	if (typeof given === "boolean") return given;
	if (!isObject(given) || levels === 0) return {};
	const schema = new Repair(given);
	const inner = (value: unknown): JSONSchema | boolean => repair(value, levels - 1, root);
	repairReference(schema, root);
	repairType(schema);
	repairBounds(schema);
	hoistRequired(schema);
	for (const name of maps) schema.set(name, repairMap(schema.get(name), inner));
	for (const name of lists) schema.set(name, repairList(schema.get(name), inner));
	for (const name of schemas) {
		const value = schema.get(name);
		if (value !== undefined) schema.set(name, value === null ? undefined : inner(value));
	}
	repairItems(schema, inner);
	repairRequired(schema);
	repairChoices(schema);
	repairPattern(schema);
	return schema.result;
}

/** Draft 4 uses different names for itself and its schemas. A dangling reference is ignored. */
function repairReference(schema: Repair, root: unknown): void {
	const { $schema, id, $ref } = schema.result;
	if ($schema !== undefined && (typeof $schema !== "string" || /draft-0[0-4]/.test($schema)))
		schema.set("$schema", undefined);
	if (typeof id === "string") schema.set("id", undefined);
	if ($ref === undefined) return;
	if (typeof $ref !== "string" || ($ref.startsWith("#") && !leadsSomewhere($ref, root)))
		schema.set("$ref", undefined);
}

/** Whether a reference within a schema has a target. Anchors are assumed to exist. */
function leadsSomewhere(reference: string, root: unknown): boolean {
	return !reference.startsWith("#/") || isObject(resolveReference(reference, root));
}

/** Returns the target of `#/…`; undefined if it does not exist. */
export function resolveReference(reference: string, root: unknown): unknown {
	if (reference === "#") return root;
	if (!reference.startsWith("#/")) return undefined;
	let at: unknown = root;
	for (const part of reference.slice(2).split("/")) {
		const name = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
		if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
		at = (at as Record<string, unknown>)[name];
	}
	return at;
}

function decode(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

function repairType(schema: Repair): void {
	const { type, nullable } = schema.result;
	const names = (Array.isArray(type) ? type : [type]).map((each) => typeNames.get(each as string) ?? each);
	const known = [...new Set(names.filter((each) => types.has(each)))];
	const isRight = Array.isArray(type)
		? known.length === type.length && type.length > 0 && type.every((each) => types.has(each))
		: type === undefined || types.has(type);
	// `any` next to a known type means any type.
	if (!isRight) {
		const hasUnknown = known.length < names.length;
		schema.set("type", hasUnknown || known.length === 0 ? undefined : known.length === 1 ? known[0] : known);
	}
	const now = schema.get("type");
	if (nullable === true && typeof now === "string" && now !== "null") schema.set("type", [now, "null"]);
	if (nullable !== undefined) schema.set("nullable", undefined);
}

function repairBounds(schema: Repair): void {
	for (const [bound, exclusive] of [
		["minimum", "exclusiveMinimum"],
		["maximum", "exclusiveMaximum"],
	] as const) {
		const flag = schema.get(exclusive);
		if (typeof flag !== "boolean") continue;
		const limit = schema.get(bound);
		schema.set(exclusive, flag && typeof limit === "number" ? limit : undefined);
		if (flag) schema.set(bound, undefined);
	}
	for (const name of counts) {
		const value = schema.get(name);
		if (value !== undefined && !(Number.isInteger(value) && (value as number) >= 0))
			schema.set(name, undefined);
	}
	for (const name of numbers) {
		const value = schema.get(name);
		if (value === undefined) continue;
		const isNumber = typeof value === "number" && Number.isFinite(value);
		if (!isNumber || (name === "multipleOf" && value <= 0)) schema.set(name, undefined);
	}
}

/** In draft 3, a property states that it is required; since draft 4 the object lists the required ones. */
function hoistRequired(schema: Repair): void {
	const properties = schema.get("properties");
	if (!isObject(properties)) return;
	const flagged = Object.entries(properties).filter(
		([, property]) => isObject(property) && typeof property.required === "boolean",
	);
	if (flagged.length === 0) return;
	const required = Array.isArray(schema.get("required")) ? (schema.get("required") as unknown[]) : [];
	const added = flagged.filter(([, property]) => (property as JSONSchema).required === (true as unknown));
	schema.set("required", [...new Set([...required, ...added.map(([name]) => name)])]);
}

function repairMap(map: unknown, inner: (value: unknown) => unknown): unknown {
	if (map === undefined) return undefined;
	// PHP writes an empty object as a list.
	if (!isObject(map)) return {};
	let copy: Record<string, unknown> | undefined;
	for (const [name, value] of Object.entries(map)) {
		const repaired = inner(value);
		if (repaired === value) continue;
		copy ??= { ...map };
		Object.defineProperty(copy, name, { value: repaired, ...ordinary });
	}
	return copy ?? map;
}

function repairList(list: unknown, inner: (value: unknown) => unknown): unknown {
	if (!Array.isArray(list) || list.length === 0) return undefined;
	const repaired = list.map(inner);
	return repaired.every((each, index) => each === list[index]) ? list : repaired;
}

/** Up to draft 7, the schemas of a tuple are in `items`. */
function repairItems(schema: Repair, inner: (value: unknown) => unknown): void {
	const { items, additionalItems } = schema.result;
	if (Array.isArray(items)) {
		schema.set("items", additionalItems === undefined ? undefined : inner(additionalItems));
		schema.set("prefixItems", items.length === 0 ? undefined : items.map(inner));
	} else {
		if (items !== undefined) schema.set("items", items === null ? undefined : inner(items));
		schema.set("prefixItems", repairList(schema.get("prefixItems"), inner));
	}
	if (additionalItems !== undefined) schema.set("additionalItems", undefined);
}

function repairRequired(schema: Repair): void {
	const required = schema.get("required");
	if (required === undefined) return;
	const names = Array.isArray(required) ? required.filter((each) => typeof each === "string") : [];
	const isRight = Array.isArray(required) && names.length === required.length;
	if (!isRight || new Set(names).size < names.length)
		schema.set("required", names.length === 0 ? undefined : [...new Set(names)]);
}

function repairChoices(schema: Repair): void {
	const choices = schema.get("enum");
	if (choices !== undefined && (!Array.isArray(choices) || choices.length === 0))
		schema.set("enum", undefined);
}

/** Patterns of other languages cannot be checked and may not be supported. */
function repairPattern(schema: Repair): void {
	const pattern = schema.get("pattern");
	if (pattern !== undefined && !isPattern(pattern)) schema.set("pattern", undefined);
	const named = schema.get("patternProperties");
	if (!isObject(named)) return;
	const usable = Object.entries(named).filter(([each]) => isPattern(each));
	if (usable.length === Object.keys(named).length) return;
	schema.set("patternProperties", usable.length === 0 ? undefined : Object.fromEntries(usable));
	// A property that only the dropped pattern allowed must not be refused.
	if (schema.get("additionalProperties") === false) schema.set("additionalProperties", undefined);
}

function isPattern(pattern: unknown): boolean {
	if (typeof pattern !== "string") return false;
	try {
		new RegExp(pattern, "u");
		return true;
	} catch {
		return false;
	}
}

function isObject(value: unknown): value is JSONSchema {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
