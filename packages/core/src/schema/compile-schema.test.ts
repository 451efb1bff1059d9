import { isHoldfastError } from "@holdfast/upp";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { compileSchema } from "./compile-schema.ts";
import { formatIssues } from "./issue.ts";

function wrong(schema: object | boolean, value: unknown): string {
	return formatIssues(compileSchema(schema)(value));
}

function invalidSchema(schema: object): unknown {
	try {
		compileSchema(schema);
	} catch (error) {
		if (isHoldfastError(error) && error.code === "invalid_schema") return error.data?.path;
	}
	return "no error";
}

const weather = {
	type: "object",
	properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
	required: ["city"],
	additionalProperties: false,
};

describe("an object", () => {
	test("that fits has no issues", () => {
		expect(compileSchema(weather)({ city: "Bern", days: 2 })).toEqual([]);
	});

	test("reports the missing, wrong or unknown property, and suggests the intended one", () => {
		expect(wrong(weather, {})).toBe('missing required property "city"');
		expect(wrong(weather, { city: 42 })).toBe("city: expected string, got number (42)");
		expect(wrong(weather, { cty: "Bern" })).toBe(
			'missing required property "city"\nunknown property "cty"; did you mean "city"?',
		);
		expect(wrong(weather, { city: "Bern", days: 0.5 })).toBe("days: expected integer, got number (0.5)");
		expect(wrong(weather, { city: "Bern", days: 0 })).toBe("days: must be at least 1, is 0");
		expect(wrong(weather, "Bern")).toBe('expected object, got string ("Bern")');
		expect(wrong(weather, null)).toBe("expected object, got null");
	});

	test("ignores properties that every object inherits", () => {
		const schema = {
			type: "object",
			properties: { constructor: { type: "string" } },
			required: ["toString"],
		};
		expect(wrong(schema, {})).toBe('missing required property "toString"');
		expect(wrong(schema, { toString: 1, constructor: 2 })).toBe(
			"constructor: expected string, got number (2)",
		);
		expect(wrong(weather, JSON.parse('{"city":"Bern","__proto__":1}'))).toBe('unknown property "__proto__"');
	});

	test("can be checked by patterns, by a schema for all other properties, by names and by count", () => {
		const schema = {
			patternProperties: { "^x-": { type: "string" } },
			additionalProperties: { type: "number" },
			propertyNames: { maxLength: 4 },
			minProperties: 1,
			maxProperties: 2,
		};
		expect(wrong(schema, { "x-a": "yes", b: 1 })).toBe("");
		expect(wrong(schema, { "x-a": 1 })).toBe("x-a: expected string, got number (1)");
		expect(wrong(schema, { b: "no" })).toBe('b: expected number, got string ("no")');
		expect(wrong(schema, { toolong: 1 })).toBe('"toolong" is not allowed as a property name');
		expect(wrong(schema, {})).toBe("must have at least 1 property, has 0");
		expect(wrong(schema, { a: 1, b: 1, c: 1 })).toBe("must have at most 2 properties, has 3");
	});
});

describe("an array", () => {
	test("reports the item", () => {
		const schema = { type: "array", items: { type: "object", properties: { name: { type: "string" } } } };
		expect(wrong(schema, [{ name: "a" }, { name: 1 }])).toBe("[1].name: expected string, got number (1)");
		expect(wrong({ properties: { list: schema } }, { list: [1] })).toBe(
			"list[0]: expected object, got number (1)",
		);
	});

	test("can be bounded, unique and a tuple in the words of either draft", () => {
		expect(wrong({ minItems: 2 }, [1])).toBe("must have at least 2 items, has 1");
		expect(wrong({ maxItems: 1 }, [1, 2])).toBe("must have at most 1 item, has 2");
		expect(wrong({ uniqueItems: true }, [{ a: 1, b: 2 }, 3, { b: 2, a: 1 }])).toBe(
			"must not repeat an item; items 0 and 2 are the same",
		);
		expect(wrong({ uniqueItems: true }, [1, "1", null, "null", true, "true"])).toBe("");
		for (const tuple of [
			{ prefixItems: [{ type: "string" }], items: false },
			{ items: [{ type: "string" }], additionalItems: false },
		]) {
			expect(wrong(tuple, ["a"])).toBe("");
			expect(wrong(tuple, [1])).toBe("[0]: expected string, got number (1)");
			expect(wrong(tuple, ["a", 2])).toBe("[1]: nothing is allowed here");
		}
	});

	test("that is wrong in all items is reported in a few lines", () => {
		const issues = compileSchema({ items: { type: "string" } })(Array.from({ length: 50_000 }, () => 1));
		expect(issues.length).toBeLessThanOrEqual(100);
		expect(formatIssues(issues).split("\n")).toHaveLength(11);
	});
});

describe("a single value", () => {
	test("is checked against types, also several and nullable ones", () => {
		expect(wrong({ type: ["string", "null"] }, null)).toBe("");
		expect(wrong({ type: ["string", "null"] }, 1)).toBe("expected string or null, got number (1)");
		expect(wrong({ type: "string", nullable: true }, null)).toBe("");
		expect(wrong({ type: "integer" }, 2.0)).toBe("");
		expect(wrong({ type: "number" }, Number.NaN)).toBe("expected number, got number (NaN)");
		expect(wrong({ type: "array" }, {})).toBe("expected array, got object");
	});

	test("is checked against choices, compared by content", () => {
		const units = { enum: ["celsius", "fahrenheit"] };
		expect(wrong(units, "celsius")).toBe("");
		expect(wrong(units, "celcius")).toBe(
			'expected one of "celsius", "fahrenheit", got string ("celcius"); did you mean "celsius"?',
		);
		expect(wrong({ enum: [1, { a: [1] }] }, { a: [1] })).toBe("");
		expect(wrong({ const: null }, null)).toBe("");
		expect(wrong({ enum: Array.from({ length: 1000 }, (_, index) => index) }, -1)).toMatch(
			/^expected one of 0, 1, .*, 19 or 980 others, got number \(-1\)$/,
		);
		expect(wrong({ const: 1 }, "1")).toBe('expected 1, got string ("1")');
	});

	test("is checked against the bounds of numbers", () => {
		expect(wrong({ exclusiveMinimum: 1 }, 1)).toBe("must be greater than 1, is 1");
		expect(wrong({ minimum: 1, exclusiveMinimum: true }, 1)).toBe("must be greater than 1, is 1");
		expect(wrong({ maximum: 1, exclusiveMaximum: 1 }, 1)).toBe("must be less than 1, is 1");
		expect(wrong({ maximum: 1 }, 2)).toBe("must be at most 1, is 2");
		expect(wrong({ multipleOf: 0.1 }, 0.3)).toBe("");
		expect(wrong({ multipleOf: 0.1 }, 0.35)).toBe("must be a multiple of 0.1, is 0.35");
	});

	test("is checked against the bounds of strings, counted in characters", () => {
		expect(wrong({ maxLength: 2 }, "👍👍")).toBe("");
		expect(wrong({ minLength: 3 }, "👍👍")).toBe("must have at least 3 characters, has 2");
		expect(wrong({ maxLength: 1 }, "👍👍")).toBe("must have at most 1 character, has 2");
		expect(wrong({ pattern: "^\\p{Lu}" }, "Éa")).toBe("");
		expect(wrong({ pattern: "^a" }, "ba")).toBe('must match the pattern ^a, got string ("ba")');
		// Not valid with the Unicode flag, but common.
		expect(wrong({ pattern: "^[\\w\\-]+\\:$" }, "a-b:")).toBe("");
	});
});

describe("combined schemas", () => {
	test("report what each of the alternatives expected", () => {
		expect(wrong({ anyOf: [{ type: "string" }, { type: "number" }] }, true)).toBe(
			"expected string or number, got boolean (true)",
		);
	});

	test("explain the alternative that was probably intended", () => {
		const shape = {
			anyOf: [
				{
					properties: { kind: { const: "circle" }, radius: { type: "number" } },
					required: ["kind", "radius"],
				},
				{ properties: { kind: { const: "square" }, side: { type: "number" } }, required: ["kind", "side"] },
			],
		};
		expect(wrong(shape, { kind: "square", side: "1" })).toBe('side: expected number, got string ("1")');
		expect(wrong({ oneOf: shape.anyOf }, { kind: "circle" })).toBe('missing required property "radius"');
		expect(wrong({ anyOf: [{ type: "null" }, { type: "object", required: ["a"] }] }, {})).toBe(
			'missing required property "a"',
		);
	});

	test("are counted as required by allOf, oneOf and not", () => {
		expect(wrong({ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 3)).toBe("must be at most 2, is 3");
		expect(wrong({ oneOf: [{ minimum: 1 }, { maximum: 2 }] }, 1)).toBe(
			"matches 2 of the allowed forms, but must match exactly one",
		);
		expect(wrong({ not: { type: "string" } }, "a")).toBe('string ("a") is not allowed here');
		expect(wrong({ not: true }, 1)).toBe("number (1) is not allowed here");
		expect(wrong(false, 1)).toBe("nothing is allowed here");
		expect(wrong(true, 1)).toBe("");
	});
});

describe("references", () => {
	const tree = {
		$ref: "#/$defs/node",
		$defs: {
			node: {
				type: "object",
				properties: {
					value: { type: "number" },
					children: { type: "array", items: { $ref: "#/$defs/node" } },
				},
				required: ["value"],
			},
		},
	};

	test("can be recursive", () => {
		expect(wrong(tree, { value: 1, children: [{ value: 2, children: [] }] })).toBe("");
		expect(wrong(tree, { value: 1, children: [{ value: 2, children: [{ value: "3" }] }] })).toBe(
			'children[0].children[0].value: expected number, got string ("3")',
		);
		const list = { type: "object", properties: { next: { $ref: "#" } }, additionalProperties: false };
		expect(wrong(list, { next: { next: { last: 1 } } })).toBe('next.next: unknown property "last"');
	});

	test("can have sibling keywords and escaped names", () => {
		const schema = {
			definitions: { "a/b~c d": { type: "string" } },
			$ref: "#/definitions/a~1b~0c%20d",
			minLength: 2,
		};
		expect(wrong(schema, "a")).toBe("must have at least 2 characters, has 1");
		expect(wrong(schema, 1)).toBe("expected string, got number (1)");
	});

	test("can contain names that are not valid URIs", () => {
		expect(wrong({ $defs: { "100%": { type: "string" } }, $ref: "#/$defs/100%" }, 1)).toMatch(
			/^expected string/,
		);
	});

	test("into an endlessly nested value are an issue, not a crash", () => {
		const endless: { value: number; children: unknown[] } = { value: 1, children: [] };
		endless.children.push(endless);
		expect(wrong(tree, endless)).toBe("is nested too deeply to be checked");
	});
});

test("a malformed schema is an error that names the location", () => {
	expect(invalidSchema({ type: "strin" })).toBe("type");
	expect(invalidSchema({ properties: { city: { type: "text" } } })).toBe("properties.city.type");
	expect(invalidSchema({ properties: [] })).toBe("properties");
	expect(invalidSchema({ required: true })).toBe("required");
	expect(invalidSchema({ items: { minLength: -1 } })).toBe("items.minLength");
	expect(invalidSchema({ pattern: "(" })).toBe("pattern");
	expect(invalidSchema({ anyOf: [] })).toBe("anyOf");
	expect(invalidSchema({ enum: "a" })).toBe("enum");
	expect(invalidSchema({ items: "string" })).toBe("items");
	expect(invalidSchema({ $ref: "#/$defs/none" })).toBe("$ref");
	expect(invalidSchema({ $ref: "https://example.com/schema" })).toBe("$ref");
	expect(invalidSchema({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } })).toBe("$ref");
});

test("a schema is compiled once", () => {
	expect(compileSchema(weather)).toBe(compileSchema(weather));
});

// The oracle defines the keywords as briefly as possible; it has no messages and no caching.
type Schema = Record<string, unknown>;
function fits(schema: Schema, value: unknown): boolean {
	const is = (type: unknown) =>
		type === "integer"
			? Number.isInteger(value)
			: type === (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
	const record =
		value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Schema) : undefined;
	const properties = (schema.properties ?? {}) as Record<string, Schema>;
	return (
		(schema.type === undefined || [schema.type].flat().some(is)) &&
		(schema.minimum === undefined || typeof value !== "number" || value >= (schema.minimum as number)) &&
		(schema.maxLength === undefined ||
			typeof value !== "string" ||
			[...value].length <= (schema.maxLength as number)) &&
		(record === undefined ||
			(((schema.required ?? []) as string[]).every((key) => Object.hasOwn(record, key)) &&
				Object.entries(record).every(([key, member]) =>
					Object.hasOwn(properties, key)
						? fits(properties[key] as Schema, member)
						: schema.additionalProperties !== false,
				))) &&
		(!Array.isArray(value) ||
			schema.items === undefined ||
			value.every((item) => fits(schema.items as Schema, item))) &&
		(schema.anyOf === undefined || (schema.anyOf as Schema[]).some((one) => fits(one, value))) &&
		(schema.oneOf === undefined ||
			(schema.oneOf as Schema[]).filter((one) => fits(one, value)).length === 1) &&
		(schema.not === undefined || !fits(schema.not as Schema, value))
	);
}

const type = fc.constantFrom("string", "number", "integer", "boolean", "null", "object", "array");
const key = fc.constantFrom("a", "b", "c", "toString", "__proto__");
const leaves = [
	fc.record({ type: fc.oneof(type, fc.array(type, { minLength: 2, maxLength: 5 })) }),
	fc.record({ minimum: fc.integer({ min: -2, max: 2 }) }),
	fc.record({ maxLength: fc.integer({ min: 0, max: 3 }) }),
	fc.record({ required: fc.uniqueArray(key, { maxLength: 2 }) }),
	fc.record({ additionalProperties: fc.boolean() }),
];
// One to three keywords, so that values fit often enough.
function schemaOf(...keywords: fc.Arbitrary<Schema>[]): fc.Arbitrary<Schema> {
	return fc
		.array(fc.oneof(...keywords), { minLength: 1, maxLength: 3 })
		.map((some) => some.reduce((schema, more) => Object.assign(schema, more), {}));
}
function schemaAbove(below: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
	const some = fc.array(below, { minLength: 1, maxLength: 3 });
	return schemaOf(
		...leaves,
		fc.record({ properties: fc.dictionary(key, below, { maxKeys: 3 }) }),
		fc.record({ items: below }),
		fc.record({ anyOf: some }),
		fc.record({ oneOf: some }),
		fc.record({ not: below }),
	);
}
const anySchema = schemaAbove(schemaAbove(schemaOf(...leaves)));
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 3, depthSize: "small" },
		fc.constantFrom(null, true, 0, 1.5, -2, "", "ab", "👍👍👍", "four"),
		fc.array(tie("value"), { maxLength: 3 }),
		fc.dictionary(key, tie("value"), { maxKeys: 3 }),
	),
}));

test("any schema and value: issues appear exactly where the value does not fit", () => {
	let fitting = 0;
	fc.assert(
		fc.property(anySchema, anyValue, (schema, value) => {
			const fit = fits(schema, value);
			if (fit) fitting++;
			expect(compileSchema(schema)(value).length === 0).toBe(fit);
		}),
		{ numRuns: 2000 },
	);
	expect(fitting).toBeGreaterThan(200);
});

test("a library's schema within JSON Schema is rejected with its location, because it would accept anything", () => {
	const text = z.string();
	for (const [schema, path] of [
		[{ city: text }, "city"],
		[{ type: "object", properties: { city: text } }, "properties.city"],
		[{ anyOf: [{ type: "null" }, text] }, "anyOf.1"],
	] as const) {
		const refused = { code: "invalid_schema", data: { path }, message: expect.stringContaining("of zod") };
		expect(() => compileSchema(schema)).toThrow(expect.objectContaining(refused));
	}
	// What a library has output as JSON Schema is JSON Schema.
	const written = z.toJSONSchema(z.object({ city: text, of: z.object({ a: z.number() }) }));
	expect(compileSchema(written)({ city: "Bern", of: { a: 1 } })).toEqual([]);
	expect(compileSchema(written)({ city: 7, of: { a: 1 } })).toHaveLength(1);
});
