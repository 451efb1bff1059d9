import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nineCharacterId, objectSchema, repairSchema, wireCallId, wireToolName } from "./index.ts";

const texts = fc.string({ unit: "grapheme", maxLength: 100 });

describe("names and ids", () => {
	test("are accepted by every provider and stay the same when they are accepted already", () => {
		fc.assert(
			fc.property(texts, (text) => {
				expect(wireToolName(text)).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
				expect(wireCallId(text)).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
				expect(nineCharacterId(text)).toMatch(/^[a-zA-Z0-9]{9}$/);
				expect(wireToolName(wireToolName(text))).toBe(wireToolName(text));
				expect(wireCallId(wireCallId(text))).toBe(wireCallId(text));
				expect(nineCharacterId(nineCharacterId(text))).toBe(nineCharacterId(text));
			}),
		);
		expect(["read_file", "call_1"].map(wireToolName)).toEqual(["read_file", "call_1"]);
	});

	test("stay distinct if they differ only in characters that providers reject", () => {
		const names = ["a.b", "a/b", "a b", "a_b", "ä_b", `${"x".repeat(70)}1`, `${"x".repeat(70)}2`];
		expect(new Set(names.map(wireToolName)).size).toBe(names.length);
		const ids = Array.from({ length: 20_000 }, (_, at) => `call:${at}`);
		expect(new Set(ids.map(nineCharacterId)).size).toBe(ids.length);
	});
});

describe("a schema that is already valid", () => {
	test("is sent unchanged, as the same object", () => {
		const schema = {
			$schema: "https://json-schema.org/draft/2020-12/schema",
			type: "object",
			properties: {
				name: { type: "string", pattern: "^a", minLength: 1 },
				tags: { type: "array", items: { type: "string" } },
				kind: { anyOf: [{ const: "a" }, { type: "null" }] },
			},
			required: ["name"],
			additionalProperties: false,
		};
		expect(objectSchema(schema)).toBe(schema);
		expect(repairSchema(schema)).toBe(schema);
	});
});

describe("a schema becomes an object of properties", () => {
	const a = {
		type: "object",
		properties: { kind: { const: "a" }, x: { type: "string" } },
		required: ["kind", "x"],
	};
	const b = {
		type: "object",
		properties: { kind: { const: "b" }, y: { type: "number" } },
		required: ["kind"],
	};

	test.each([
		["without properties", { type: "object" }, { type: "object", properties: {} }],
		["without anything", {}, { type: "object", properties: {} }],
		["without a type", { properties: { q: {} } }, { type: "object", properties: { q: {} } }],
		[
			"of a union",
			{ anyOf: [a, b] },
			{
				type: "object",
				properties: { kind: { enum: ["a", "b"] }, x: { type: "string" }, y: { type: "number" } },
				required: ["kind"],
			},
		],
		[
			"of an intersection",
			{ allOf: [{ properties: { x: { type: "string" } }, required: ["x"] }, { properties: { y: {} } }] },
			{ type: "object", properties: { x: { type: "string" }, y: {} }, required: ["x"] },
		],
		["by reference", { $ref: "#/$defs/A", $defs: { A: a } }, { ...a, $defs: { A: a } }],
		[
			"with a tuple",
			{
				type: "object",
				properties: {
					p: { type: "array", items: [{ type: "number" }, { type: "string" }], additionalItems: false },
				},
			},
			{
				type: "object",
				properties: {
					p: { type: "array", items: { anyOf: [{ type: "number" }, { type: "string" }] }, maxItems: 2 },
				},
			},
		],
	])("%s", (_name, given, made) => {
		expect(objectSchema(given as never)).toEqual(made);
	});
});

describe("keywords of other drafts and languages", () => {
	test.each([
		["an exclusive bound of draft 4", { minimum: 0, exclusiveMinimum: true }, { exclusiveMinimum: 0 }],
		[
			"a required flag",
			{ properties: { a: { required: true }, b: { required: false } } },
			{ required: ["a"] },
		],
		["a type of another language", { type: "int" }, { type: "integer" }],
		["a type that is none", { type: "any" }, {}],
		["nullable", { type: "string", nullable: true }, { type: ["string", "null"] }],
		["an empty enum", { type: "string", enum: [] }, { type: "string" }],
		["PHP's empty properties", { properties: [] }, { properties: {} }],
		["a property without a schema", { properties: { a: null } }, { properties: { a: {} } }],
		["a pattern of Python's", { pattern: "(?i)^a" }, {}],
		["a negative length", { minLength: -1 }, {}],
		["a lost reference", { $ref: "#/$defs/Gone" }, {}],
		["no schema at all", null, {}],
	])("%s is converted or removed", (_name, given, made) => {
		expect(repairSchema(given)).toMatchObject(made);
		for (const name of Object.keys((given ?? {}) as object))
			if (!(name in made) && name !== "properties") expect(repairSchema(given)).not.toHaveProperty(name);
	});

	test("a schema of any shape is repaired without an error, in linear time, and stays repaired", () => {
		fc.assert(
			fc.property(fc.jsonValue({ maxDepth: 5 }), (given) => {
				const made = repairSchema(given);
				expect(repairSchema(made)).toEqual(made);
				expect(objectSchema(made)).toMatchObject({ type: "object", properties: {} });
			}),
		);
		const wide = {
			type: "object",
			properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`p${at}`, {}])),
		};
		expect(objectSchema(wide)).toBe(wide);
	});
});
