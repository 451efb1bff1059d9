// Merges several schemas into one, in time proportional to their size, because untrusted servers write these schemas
// (keeps I7).
import type { JSONSchema } from "../messages/index.ts";

export type Schema = JSONSchema | boolean;

/** `all`: the result allows what all of the schemas allow. `any`: what any of them allows. */
export type Rule = "all" | "any";

/** The maximum number of members and schemas merged for one schema; a large one takes a few thousand. */
const mostWork = 300_000;

/** Counts the cost of merging: references may name the same schema any number of times. */
export class MergeWork {
	#left = mostWork;

	/** @throws TooMuchWork if the limit is exceeded. */
	spend(objects: readonly JSONSchema[]): void {
		for (const object of objects) {
			const { properties = {}, required = [] } = object;
			this.#left -= 1 + Object.keys(object).length + Object.keys(properties).length + required.length;
			if (this.#left < 0) throw new TooMuchWork();
		}
	}
}

/** Thrown if a schema costs too much to merge. */
export class TooMuchWork extends Error {}

/** Merges one or more object schemas. */
export function mergeObjects(objects: readonly JSONSchema[], rule: Rule, work: MergeWork): JSONSchema {
	const [first, ...others] = objects as [JSONSchema, ...JSONSchema[]];
	if (others.length === 0) return first;
	work.spend(objects);
	const merged: JSONSchema = { ...first };
	for (const other of others)
		for (const [name, value] of Object.entries(other))
			if (!Object.hasOwn(merged, name)) define(merged, name, value);
	const description = objects.find((each) => (each.description ?? undefined) !== undefined)?.description;
	if (description !== undefined) merged.description = description;
	merged.type = "object";
	merged.properties = mergeProperties(objects, rule);
	const additional = mergeAdditional(objects, rule);
	if (additional === undefined) delete merged.additionalProperties;
	else merged.additionalProperties = additional;
	const required = mergeRequired(objects, rule);
	if (required.length > 0) merged.required = required;
	else if (rule === "any") delete merged.required;
	return merged;
}

function mergeProperties(objects: readonly JSONSchema[], rule: Rule): Record<string, Schema> {
	const found = new Map<string, Schema[]>();
	for (const { properties = {} } of objects)
		for (const [name, schema] of Object.entries(properties)) {
			const others = found.get(name);
			if (others === undefined) found.set(name, [schema]);
			else others.push(schema);
		}
	const properties: Record<string, Schema> = {};
	for (const [name, schemas] of found) define(properties, name, join(schemas, rule));
	return properties;
}

function join(schemas: readonly Schema[], rule: Rule): Schema {
	const distinct = schemas.length === 1 ? schemas : distinctOf(schemas);
	if (distinct.length === 1) return distinct[0] as Schema;
	return rule === "all" ? ({ allOf: distinct } as JSONSchema) : anyOf(distinct);
}

function mergeRequired(objects: readonly JSONSchema[], rule: Rule): string[] {
	if (rule === "all") return [...new Set(objects.flatMap(({ required = [] }) => required))];
	let common = objects[0]?.required ?? [];
	for (const { required = [] } of objects.slice(1)) {
		const names = new Set(required);
		common = common.filter((name) => names.has(name));
	}
	return [...common];
}

function mergeAdditional(objects: readonly JSONSchema[], rule: Rule): Schema | undefined {
	const given = objects.map(({ additionalProperties }) => additionalProperties as Schema | undefined);
	if (rule === "any") return given.every((each) => each === false) ? false : undefined;
	let merged = given[0];
	for (const next of given.slice(1)) {
		const open = merged ?? next;
		// If only one of them closes the object, it does not know the properties of the other.
		merged = open === false ? undefined : open;
	}
	return merged;
}

/** Returns one schema for what any of them allows. */
export function anyOf(schemas: readonly Schema[]): Schema {
	const distinct = distinctOf(
		schemas.flatMap((each) =>
			isRecord(each) && Array.isArray(each.anyOf) && Object.keys(each).length === 1
				? (each.anyOf as Schema[])
				: [each],
		),
	);
	const end = distinct.findIndex((each) => valuesOf(each) === undefined);
	const valued = end < 0 ? distinct : distinct.slice(0, end);
	// The members of a union are often distinguished by a constant, so the values are merged into one list.
	const values = { enum: [...new Set(valued.flatMap((each) => valuesOf(each) ?? []))] } as JSONSchema;
	const branches = valued.length > 1 ? [values, ...distinct.slice(valued.length)] : distinct;
	return branches.length === 1 ? (branches[0] as Schema) : { anyOf: branches as JSONSchema[] };
}

function valuesOf(schema: Schema): readonly unknown[] | undefined {
	if (!isRecord(schema)) return undefined;
	const { type: _, const: constant, enum: choices, ...more } = schema as JSONSchema;
	if (Object.keys(more).length > 0) return undefined;
	return Array.isArray(choices) ? choices : constant === undefined ? undefined : [constant];
}

/** Removes duplicates, keeping the first of each, so that a schema that occurs many times is written out once. */
function distinctOf(schemas: readonly Schema[]): readonly Schema[] {
	const byText = new Map<string, Schema>();
	for (const schema of new Set(schemas)) {
		const text = JSON.stringify(schema);
		if (!byText.has(text)) byText.set(text, schema);
	}
	return [...byText.values()];
}

/** Defined, not assigned: a member may be named `__proto__`. */
function define(target: object, name: string, value: unknown): void {
	Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
