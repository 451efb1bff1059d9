// The schema libraries used to declare tools, in their current versions: the model sees the schema, and arguments are
// validated.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { Schema } from "effect";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { z as inside4 } from "zod/v3";
import { z as z3 } from "zod3";
import { normaliseTools } from "./normalise-tool.ts";
import { tool } from "./tool.ts";

const effect = Schema.Struct({ city: Schema.String, days: Schema.optional(Schema.Number) });
const valibot = v.object({ city: v.string(), days: v.optional(v.number()) });
const small = mini.object({ city: mini.string(), days: mini.optional(mini.number()) });

const declare = (parameters: unknown, more: object = {}) =>
	tool({ name: "weather", description: "The weather.", parameters, run: () => "", ...more } as never);
const read = (declared: unknown) => normaliseTools([declared as never]).get("weather");

test.each([
	["zod 3", z3.object({ city: z3.string(), days: z3.number().optional() })],
	["zod 3 within zod 4", inside4.object({ city: inside4.string(), days: inside4.number().optional() })],
	["zod 4", z.object({ city: z.string(), days: z.number().optional() })],
	["valibot", toStandardJsonSchema(valibot)],
	["arktype", type({ city: "string", "days?": "number" })],
	["effect", Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(effect))],
])("%s shows its schema to the model, and checks arguments", async (_, parameters) => {
	const found = read(declare(parameters));
	expect(found?.parameters).toMatchObject({
		type: "object",
		properties: { city: { type: "string" } },
		required: ["city"],
	});
	expect(await found?.validate({ city: "Bern", days: 3 })).toEqual({
		ok: true,
		value: { city: "Bern", days: 3 },
	});
	expect(await found?.validate({ city: 5 })).toMatchObject({ ok: false, issues: [{ path: "city" }] });
});

test.each([
	["valibot", valibot, "This valibot schema", "toStandardJsonSchema(schema)"],
	["zod/mini", small, `This zod ${small._zod.version.major}.`, "z.toJSONSchema(schema)"],
	["effect", Schema.toStandardSchemaV1(effect), "This effect schema", "Schema.toStandardJSONSchemaV1("],
	["bare effect", effect, "a bare effect schema", "Schema.toStandardJSONSchemaV1("],
	["zod 3 with a date", z3.object({ on: z3.date() }), "This zod 3 schema", "JSON Schema has no date"],
])(
	"%s that cannot be converted to JSON Schema is rejected with instructions",
	(_, parameters, named, instead) => {
		expect(() => declare(parameters)).toThrow(
			expect.objectContaining({
				code: "schema_not_convertible",
				message: expect.stringMatching(`${literal(named)}.*${literal(instead)}`),
			}),
		);
	},
);

test("zod/mini works together with its JSON Schema, as the rejection explains", async () => {
	const found = read(declare(mini.toJSONSchema(small), { inputSchema: small }));
	expect(found?.parameters).toMatchObject({ required: ["city"] });
	expect(await found?.validate({ city: 5 })).toMatchObject({ ok: false });
});

test("zod 3 is converted like the same schema in zod 4", () => {
	const build = (lib: typeof z): object =>
		lib.object({
			text: lib.string().min(1).max(9).describe("A text."),
			mail: lib.string().regex(/^a/).optional(),
			count: lib.number().int().min(0).default(3),
			share: lib.number().gt(0).lt(1),
			flag: lib.boolean().nullable(),
			list: lib.array(lib.string()).min(1).max(3),
			pair: lib.tuple([lib.string(), lib.number()]),
			kind: lib.enum(["a", "b"]),
			one: lib.literal("x"),
			either: lib.union([lib.string(), lib.object({ a: lib.unknown() }).strict()]),
			rest: lib.record(lib.string(), lib.number()),
			checked: lib.string().refine((given) => given !== ""),
			changed: lib.string().transform(Number).optional(),
		});
	const older = read(declare(build(z3 as never)))?.parameters as { properties: Record<string, unknown> };
	const newer = read(declare(build(z)))?.parameters as { properties: Record<string, unknown> };
	const { count, either, flag, one, pair, rest, ...others } = newer.properties;
	expect(older).toMatchObject({ required: (newer as { required?: unknown }).required, properties: others });
	expect(older.properties).toMatchObject({
		count: { type: "integer", minimum: 0, default: 3 },
		either: {
			anyOf: [{ type: "string" }, { type: "object", properties: { a: {} }, additionalProperties: false }],
		},
		flag: { anyOf: [{ type: "boolean" }, { type: "null" }] },
		one: { const: "x" },
		pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
		rest: { type: "object", additionalProperties: { type: "number" } },
	});
	expect([count, either, flag, one, pair, rest]).not.toContain(undefined);
});

function literal(text: string): string {
	return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
