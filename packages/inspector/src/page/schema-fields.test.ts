import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldsOf, valueOfFields } from "./schema-fields.ts";

const schema = {
	type: "object",
	required: ["order", "amount"],
	properties: {
		order: { type: "string", description: "Its number" },
		amount: { type: "number" },
		pieces: { type: "integer" },
		reason: { type: "string", enum: ["late", "broken"] },
		notify: { type: "boolean" },
		address: { type: "object" },
	},
};

test("each type of a schema gets its kind of field", () => {
	const fields = fieldsOf(schema, { order: "A", amount: 49, extra: [1] });
	expect(fields.map(({ name, kind, text }) => [name, kind, text])).toEqual([
		["order", "text", "A"],
		["amount", "number", "49"],
		["pieces", "number", ""],
		["reason", "choice", ""],
		["notify", "yes-or-no", ""],
		["address", "json", ""],
		["extra", "json", "[\n  1\n]"],
	]);
	expect(fields[0]).toMatchObject({ isRequired: true, description: "Its number" });
});

test("an unchanged form has the same value, for any schema", () => {
	const types = fc.constantFrom("string", "number", "integer", "boolean", "object", "array", undefined);
	const name = fc.string().filter((text) => text !== "__proto__");
	const property = fc.record({ type: types }, { requiredKeys: [] });
	fc.assert(
		fc.property(fc.dictionary(name, property), fc.dictionary(name, fc.jsonValue()), (properties, given) => {
			const value = JSON.parse(JSON.stringify(given));
			expect(valueOfFields(fieldsOf({ type: "object", properties }, value), {})).toEqual({ value });
		}),
	);
});

test("typed texts become values of the schema's types", () => {
	const fields = fieldsOf(schema, { order: "A", amount: 49 });
	const texts = { amount: "12.5", pieces: "2", reason: '"late"', notify: "true", address: '{"city":"Rome"}' };
	expect(valueOfFields(fields, texts)).toEqual({
		value: { order: "A", amount: 12.5, pieces: 2, reason: "late", notify: true, address: { city: "Rome" } },
	});
});

test("a text that does not fit is rejected by its name", () => {
	const fields = fieldsOf(schema, { order: "A", amount: 49 });
	expect(valueOfFields(fields, { amount: "" })).toEqual({ problem: "amount is required." });
	expect(valueOfFields(fields, { amount: "many" })).toEqual({ problem: "amount must be a number." });
	expect(valueOfFields(fields, { pieces: "1.5" })).toEqual({ problem: "pieces must be a whole number." });
	expect(valueOfFields(fields, { address: "{" })).toEqual({ problem: "address must be valid JSON." });
});
