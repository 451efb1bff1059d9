// Compiling a schema and checking a value against it take time that grows with their size, and no faster.
import { describe, expect, test } from "vitest";
import { compileSchema } from "./compile-schema.ts";

const list = <T>(length: number, of: (index: number) => T): T[] =>
	Array.from({ length }, (_, index) => of(index));
const record = (length: number, of: (index: number) => unknown): Record<string, unknown> =>
	Object.fromEntries(list(length, (index) => [`k${index}`, of(index)]));

/** Schemas and values of a size; each was, or could be, a square of it. */
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

/** Milliseconds of processor time. */
function timeOf(shape: (n: number) => readonly [object, unknown], n: number): number {
	const [schema, value] = shape(n);
	const before = process.cpuUsage();
	compileSchema(schema)(value);
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1_000;
}

describe("at twice the size, no more than two and a half times the time:", () => {
	test.each(Object.entries(shapes))("%s", (_, shape) => {
		timeOf(shape, 1_000);
		const small = Math.min(...list(3, () => timeOf(shape, 1_500)));
		// Four times twice the size. Short times are not judged by a noisy clock; a square would take 256 times as long.
		const isInProportion = (large: number): boolean => large < 150 || large <= 2.5 ** 4 * small;
		let large = timeOf(shape, 24_000);
		for (let again = 0; again < 2 && !isInProportion(large); again++) large = timeOf(shape, 24_000);
		expect([small, large, isInProportion(large)]).toEqual([small, large, true]);
	});
});

test("a schema that is too large is refused before it is compiled", () => {
	const refused = (schema: object): void =>
		expect(() => compileSchema(schema)).toThrow(expect.objectContaining({ code: "invalid_schema" }));
	const began = performance.now();
	refused({ required: list(160_000, (i) => `k${i}`) });
	refused({ properties: record(110_000, () => true) });
	refused({ const: "x".repeat(4_100_000) });
	let deep: object = {};
	for (let level = 0; level < 300; level++) deep = { properties: { a: deep } };
	refused(deep);
	expect(performance.now() - began).toBeLessThan(3_000);
	// What is in many places counts once.
	let shared: object = { type: "string" };
	for (let level = 0; level < 100; level++) shared = { anyOf: [shared, shared] };
	expect(compileSchema(shared)("a")).toEqual([]);
});
