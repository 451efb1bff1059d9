// Schemas of tools are processed in linear time, because untrusted servers write them (keeps I7).
import { test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
import type { JSONSchema } from "../messages/index.ts";
import { isClosedSchema } from "./closed-schema.ts";
import { objectSchema } from "./object-schema.ts";

const list = <T>(length: number, of: (index: number) => T): T[] =>
	Array.from({ length }, (_, index) => of(index));
const named = <T>(length: number, of: (index: number) => T): Record<string, T> =>
	Object.fromEntries(list(length, (index) => [`p${index}`, of(index)]));

/** Schemas of a given size. */
const shapes: Readonly<Record<string, (n: number) => object>> = {
	"a union of constants": (n) => ({
		oneOf: list(n, (index) => ({ type: "object", properties: { kind: { const: index } } })),
	}),
	"a union of objects that share a property": (n) => ({
		anyOf: list(n, (index) => ({ properties: { a: { type: "string", maxLength: index } } })),
	}),
	"a union of objects of their own": (n) => ({
		anyOf: list(n, (index) => ({ properties: { [`p${index}`]: {} }, required: [`p${index}`] })),
	}),
	"all of many objects": (n) => ({
		allOf: list(n, (index) => ({ properties: { a: { minLength: index } }, required: [`p${index}`] })),
	}),
	"a long tuple": (n) => ({
		type: "object",
		properties: { a: { prefixItems: list(n, (index) => ({ type: "string", maxLength: index })) } },
	}),
	"references to one large object": (n) => ({
		$defs: { large: { type: "object", properties: named(n, () => ({})) } },
		allOf: list(n, () => ({ $ref: "#/$defs/large" })),
	}),
	"references to one union": (n) => ({
		$defs: { union: { allOf: list(n, (index) => ({ properties: { a: { minLength: index } } })) } },
		allOf: list(n, () => ({ $ref: "#/$defs/union" })),
	}),
};

test.each(Object.entries(shapes))("%s", async (_, schemaOf) => {
	await expectProportion(24_000, (size) => {
		const schema = schemaOf(size);
		return () => objectSchema(schema as JSONSchema);
	});
});

test("a closed object with many names", async () => {
	const closed = (n: number) => ({
		type: "object",
		properties: named(n, () => ({ type: "string" })),
		required: list(n, (index) => `p${index}`),
		additionalProperties: false,
	});
	await expectProportion(24_000, (size) => {
		const schema = closed(size);
		return () => isClosedSchema(schema);
	});
});
