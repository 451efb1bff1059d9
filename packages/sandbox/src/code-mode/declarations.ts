// TypeScript declarations of tools, as a model reads them before it writes a script.
import type { ModelTool } from "@holdfast/upp";

type Schema = Readonly<Record<string, unknown>>;

/** The depth of nested types, and the number of types in one tool, that are written out. */
const maxDepth = 6;
const maxTypes = 1_000;
const identifier = /^[A-Za-z_$][\w$]*$/;

/** Returns the declaration of one tool as a member of `tools`, with its description as a comment. */
export function declarationOf({ name, description = "", parameters }: ModelTool): string {
	const writer = new Writer(isSchema(parameters) ? parameters : {});
	const optional = writer.hasRequired ? "" : "?";
	const comment = description === "" ? "" : `\t/** ${inline(description)} */\n`;
	return `${comment}\t${key(name)}(input${optional}: ${writer.root}): Promise<any>;`;
}

/** Returns the declarations of several tools. */
export function declarationsOf(tools: readonly ModelTool[]): string {
	return `declare const tools: {\n${tools.map(declarationOf).join("\n")}\n};`;
}

/** Writes the type of one schema, whose references may repeat without end. */
class Writer {
	readonly root: string;
	readonly hasRequired: boolean;
	readonly #schema: Schema;
	#left = maxTypes;

	constructor(schema: Schema) {
		this.#schema = schema;
		this.hasRequired = required(schema).size > 0;
		this.root = this.#typeOf(schema, 0);
	}

	#typeOf(schema: unknown, depth: number): string {
		if (!isSchema(schema) || depth > maxDepth || this.#left-- <= 0) return "unknown";
		const { $ref, enum: values, anyOf, oneOf, allOf, type } = schema;
		const all = (types: readonly unknown[]): string[] => types.map((each) => this.#typeOf(each, depth + 1));
		if (typeof $ref === "string") return this.#typeOf(targetOf($ref, this.#schema), depth + 1);
		if (Array.isArray(values)) return union(values.map(literal));
		if (Object.hasOwn(schema, "const")) return literal(schema.const);
		const choices = anyOf ?? oneOf;
		if (Array.isArray(choices)) return union(all(choices));
		if (Array.isArray(allOf)) return all(allOf).join(" & ") || "unknown";
		if (Array.isArray(type)) return union(all(type.map((each) => ({ ...schema, type: each }))));
		switch (type) {
			case "string":
			case "boolean":
			case "null":
				return type;
			case "number":
			case "integer":
				return "number";
			case "array":
				return `Array<${this.#typeOf(schema.items, depth + 1)}>`;
			case "object":
				return this.#objectType(schema, depth);
			default:
				return isSchema(schema.properties) ? this.#objectType(schema, depth) : "unknown";
		}
	}

	#objectType(schema: Schema, depth: number): string {
		const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
		const { additionalProperties: more } = schema;
		if (properties.length === 0)
			return more === false
				? "{}"
				: `Record<string, ${isSchema(more) ? this.#typeOf(more, depth + 1) : "unknown"}>`;
		const isRequired = required(schema);
		const members = properties.map(([name, property]) => {
			const { description } = isSchema(property) ? property : {};
			const note =
				typeof description === "string" && description !== "" ? ` /** ${inline(description)} */` : "";
			const optional = isRequired.has(name) ? "" : "?";
			return `${note} ${key(name)}${optional}: ${this.#typeOf(property, depth + 1)};`;
		});
		return `{${members.join("")} }`;
	}
}

function isSchema(value: unknown): value is Schema {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function required({ required: names }: Schema): ReadonlySet<unknown> {
	return new Set(Array.isArray(names) ? names : []);
}

function union(types: readonly string[]): string {
	return [...new Set(types)].join(" | ") || "unknown";
}

function literal(value: unknown): string {
	return JSON.stringify(value) ?? "unknown";
}

/** Returns what a reference within the schema points to; undefined for any other. */
function targetOf(reference: string, root: Schema): unknown {
	if (reference === "#") return root;
	if (!reference.startsWith("#/")) return undefined;
	let target: unknown = root;
	for (const part of reference.slice(2).split("/")) {
		const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
		if (typeof target !== "object" || target === null || !Object.hasOwn(target, name)) return undefined;
		target = (target as Schema)[name];
	}
	return target;
}

function key(name: string): string {
	return identifier.test(name) ? name : JSON.stringify(name);
}

function inline(text: string): string {
	return text.replaceAll("*/", "* /").replaceAll(/\s+/g, " ").trim();
}
