// Compiling a schema and checking a value take linear time.
import { describe, expect, test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
import { compileSchema } from "./compile-schema.ts";

const list = <T>(length: number, of: (index: number) => T): T[] =>
	Array.from({ length }, (_, index) => of(index));
const record = (length: number, of: (index: number) => unknown): Record<string, unknown> =>
	Object.fromEntries(list(length, (index) => [`k${index}`, of(index)]));

/** Schemas and values of a given size; each took, or could take, quadratic time. */
const shapes: Readonly<Record<string, (n: number) => readonly [schema: object, value: unknown]>> = {
	"names that are required": (n) => [{ required: list(n, (i) => `k${i}`) }, {}],
	"properties that are required": (n) => [
		{ properties: record(n, () => ({})), required: list(n, (i) => `k${i}`) },
		{},
	],
	"properties that are not known": (n) => [
		{ properties: record(n, () => ({ type: "string" })), additionalProperties: false },
		Object.fromEntries(list(n, (i) => [`x${i}`, 1])),
	],
	"references to references": (n) => [
		{
			$defs: { ...record(n, (i) => ({ $ref: `#/$defs/k${i + 1}` })), [`k${n}`]: { type: "string" } },
			properties: record(n, (i) => ({ $ref: `#/$defs/k${i}` })),
		},
		record(n, () => 1),
	],
	"references back and forth": (n) => [
		{
			$defs: { ...record(n, (i) => ({ $ref: `#/$defs/k${i + 1}` })), [`k${n}`]: { type: "string" } },
			properties: record(n, (i) => ({ $ref: `#/$defs/k${n - i}` })),
		},
		record(n, () => 1),
	],
	"choices, all wrong": (n) => [
		{ items: { enum: list(n, (i) => `choice ${i}`) } },
		list(n, (i) => `chioce ${i}`),
	],
	"a choice of long texts": (n) => [
		{ items: { enum: ["x".repeat(n * 10)] } },
		list(20, (i) => `${"x".repeat(n * 10 - 2)}${i}`),
	],
	"types named again and again": (n) => [{ items: { type: list(n, () => "string") } }, list(n, () => 1)],
	"forms, none of which fits": (n) => [{ anyOf: list(n, (i) => ({ const: i })) }, "x".repeat(n)],
	"checks of a long text": (n) => [
		{ allOf: list(40, (i) => ({ maxLength: n * 5 + i })) },
		"x".repeat(n * 10),
	],
	"patterns for a long text": (n) => [{ allOf: list(40, (i) => ({ pattern: `^x{${i}}$` })) }, "x".repeat(n)],
	"items that must differ": (n) => [{ uniqueItems: true }, list(n, (i) => ({ a: i, b: [i] }))],
	"names that fit patterns": (n) => [{ patternProperties: record(10, () => ({})) }, record(n, () => 1)],
	"forms of nested forms": (n) => [
		{ properties: record(n / 2, () => ({ oneOf: [{ type: "string" }, { minimum: 3 }] })) },
		record(n, () => 1),
	],
};

describe("at twice the size, no more than two and a half times the time:", () => {
	test.each(Object.entries(shapes))("%s", async (_, shape) => {
		await expectProportion(24_000, (size) => {
			const [schema, value] = shape(size);
			return () => compileSchema(schema)(value);
		});
	});
});

test("a schema that is too large is rejected before compilation", () => {
	const refused = (schema: object): void =>
		expect(() => compileSchema(schema)).toThrow(expect.objectContaining({ code: "invalid_schema" }));
	const began = process.cpuUsage();
	refused({ required: list(160_000, (i) => `k${i}`) });
	refused({ properties: record(110_000, () => true) });
	refused({ const: "x".repeat(4_100_000) });
	let deep: object = {};
	for (let level = 0; level < 300; level++) deep = { properties: { a: deep } };
	refused(deep);
	expect(process.cpuUsage(began).user).toBeLessThan(3_000_000);
	// An object that is referenced repeatedly counts once.
	let shared: object = { type: "string" };
	for (let level = 0; level < 100; level++) shared = { anyOf: [shared, shared] };
	expect(compileSchema(shared)("a")).toEqual([]);
});
