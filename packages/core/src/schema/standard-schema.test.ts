import { expect, test } from "vitest";
import { z } from "zod";
import { isStandardSchema, type StandardSchema, toJsonSchema, validateStandard } from "./standard-schema.ts";

const schema = z.object({
	city: z.string(),
	days: z.number().default(3),
	tags: z.array(z.string()).optional(),
});

test("zod's schemas are recognised, JSON Schema and other values are not", () => {
	expect(isStandardSchema(schema)).toBe(true);
	for (const other of [{ type: "object" }, null, undefined, "schema", () => schema]) {
		expect(isStandardSchema(other)).toBe(false);
	}
	expect(isStandardSchema(Object.assign(() => undefined, { "~standard": schema["~standard"] }))).toBe(true);
});

test("a valid value is returned with the schema's defaults", () => {
	expect(validateStandard(schema, { city: "Bern" })).toEqual({ ok: true, value: { city: "Bern", days: 3 } });
});

test("issues have the same shape as those of JSON Schema", () => {
	expect(validateStandard(schema, { city: "Bern", tags: ["a", 1] })).toEqual({
		ok: false,
		issues: [{ path: "tags[1]", message: expect.stringContaining("expected string") }],
	});
});

test("an asynchronous schema is awaited", async () => {
	const known = z.string().refine(async (city) => city === "Bern", "unknown city");
	expect(await validateStandard(known, "Bern")).toEqual({ ok: true, value: "Bern" });
	expect(await validateStandard(known, "Ulm")).toEqual({
		ok: false,
		issues: [{ path: "", message: "unknown city" }],
	});
});

test("the JSON Schema is that of the input, from the Standard JSON Schema extension", () => {
	expect(toJsonSchema(schema)).toEqual({
		type: "object",
		properties: {
			city: { type: "string" },
			days: { default: 3, type: "number" },
			tags: { type: "array", items: { type: "string" } },
		},
		required: ["city"],
	});
	expect(toJsonSchema(schema)).toBe(toJsonSchema(schema));
});

test("without the extension, the schema's own toJSONSchema is called", () => {
	const { validate, vendor, version } = schema["~standard"];
	const older = { "~standard": { validate, vendor, version }, toJSONSchema: () => ({ type: "object" }) };
	expect(toJsonSchema(older as StandardSchema)).toEqual({ type: "object" });
});

test("a schema that cannot be converted to JSON Schema explains what to do", () => {
	const bare: StandardSchema = {
		"~standard": { version: 1, vendor: "homemade", validate: (value) => ({ value }) },
	};
	expect(() => toJsonSchema(bare)).toThrow(
		expect.objectContaining({
			code: "schema_not_convertible",
			message: expect.stringMatching(/homemade.*`parameters`: the first/s),
		}),
	);
	expect(() => toJsonSchema(z.object({ when: z.date() }))).toThrow(
		expect.objectContaining({ code: "schema_not_convertible" }),
	);
});
