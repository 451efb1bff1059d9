// The schema of a tool sent to a provider allows everything the tool allows: a model is never kept from a valid call.
import { objectSchema } from "@holdfast/upp";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileSchema } from "./compile-schema.ts";

const value = fc.oneof(fc.constantFrom("a", "b", 1, 2.5, true, null), fc.constant([1]), fc.constant({}));
const scalar = fc.constantFrom(
	{ type: "string" },
	{ type: "integer" },
	{ const: "a" },
	{ enum: ["a", 1] },
	{},
	true,
	{ type: "array", items: { type: "number" } },
	{ type: "array", prefixItems: [{ type: "number" }], items: false },
);
const names = fc.constantFrom("x", "y", "z");
const object = fc.record(
	{
		type: fc.constant("object"),
		properties: fc.dictionary(names, scalar, { maxKeys: 3 }),
		required: fc.uniqueArray(names, { maxLength: 2 }),
		additionalProperties: fc.boolean(),
	},
	{ requiredKeys: [] },
);
// Branches of a choice say which properties they have: one that is open to any would make every property of the others mean
// nothing, so its openness is not kept.
const closed = object.map((branch) => ({ ...branch, additionalProperties: false, required: [] }));
const union = fc
	.record({
		keyword: fc.constantFrom("anyOf", "oneOf", "allOf"),
		branches: fc.array(closed, { minLength: 1, maxLength: 3 }),
		around: object,
	})
	.map(({ keyword, branches, around }) => ({ ...around, [keyword]: branches }));
const schema = fc.oneof(
	object,
	union,
	object.map((given) => ({ $ref: "#/$defs/A", $defs: { A: given } })),
);

test("the provider form of a schema accepts every value that the schema accepts", () => {
	let allowed = 0;
	fc.assert(
		fc.property(
			schema,
			fc.array(fc.dictionary(names, value, { maxKeys: 3 }), { minLength: 5, maxLength: 5 }),
			(given, inputs) => {
				const own = compileSchema(given as never);
				const sent = compileSchema(objectSchema(given as never));
				for (const input of inputs) {
					if (own(input).length > 0) continue;
					allowed++;
					expect(sent(input)).toEqual([]);
				}
			},
		),
		{ numRuns: 1500 },
	);
	expect(allowed).toBeGreaterThan(300);
});
