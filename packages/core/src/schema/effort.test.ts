import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileSchema } from "./compile-schema.ts";

/** `depth` schemas, each of which refers to the next one twice. */
function doubling(keyword: "allOf" | "anyOf" | "oneOf", depth: number, last: object): object {
	const $defs: Record<string, object> = { [`d${depth}`]: last };
	for (let at = 0; at < depth; at++) {
		const next = { $ref: `#/$defs/d${at + 1}` };
		// Two different forms, so that their findings about an invalid value differ, too.
		$defs[`d${at}`] = { [keyword]: [next, { ...next, title: `${at}` }, { const: at, ...next }] };
	}
	return { $defs, $ref: "#/$defs/d0" };
}

describe("a schema that refers to the same schema repeatedly", () => {
	for (const keyword of ["allOf", "anyOf", "oneOf"] as const) {
		for (const [what, last] of [
			["lets the value in", { type: "object" }],
			["refuses the value", { type: "object", required: ["a", "b"], properties: { a: { minimum: 3 } } }],
		] as const)
			test(`is fast with ${keyword} and ${what}`, () => {
				const check = compileSchema(doubling(keyword, 40, last));
				const began = process.cpuUsage();
				const issues = check({ a: 1, z: [1, 2, 3] });
				expect(process.cpuUsage(began).user).toBeLessThan(500_000);
				expect(issues.map(({ message }) => message).join().length).toBeLessThan(100_000);
				if (keyword !== "oneOf")
					expect(issues.length > 0).toBe(what === "refuses the value" || keyword === "allOf");
			});
	}
});

test("a check that would take too long is rejected with an explanation and not run", () => {
	const many = Array.from({ length: 3_000 }, (_, index) => ({ type: "object", required: [`p${index}`] }));
	const check = compileSchema({ type: "array", items: { anyOf: many } });
	const began = process.cpuUsage();
	const issues = check(Array.from({ length: 3_000 }, () => ({})));
	// CPU time, in microseconds, because other processes may be using the machine.
	expect(process.cpuUsage(began).user).toBeLessThan(5_000_000);
	expect(issues).toEqual([{ path: "", message: "takes too long to be checked against its schema" }]);
	expect(check([{ p0: 1 }])).toEqual([]);
});

test("a large value is not serialised for every choice of another kind", () => {
	const large = Array.from({ length: 50_000 }, (_, index) => ({ index }));
	const check = compileSchema({
		anyOf: Array.from({ length: 500 }, (_, index) => ({ enum: [index, `${index}`] })),
	});
	const began = process.cpuUsage();
	expect(check(large)).toHaveLength(1);
	expect(process.cpuUsage(began).user).toBeLessThan(500_000);
});

test("a value that appears in two places is checked in both, with its own path", () => {
	const schema = {
		$defs: { n: { type: "object", required: ["x"] } },
		properties: { a: { $ref: "#/$defs/n" }, b: { $ref: "#/$defs/n" } },
	};
	const same = {};
	expect(compileSchema(schema)({ a: same, b: same }).map(({ path }) => path)).toEqual(["a", "b"]);
});

test("sharing known results changes no verdict", () => {
	const leaf = fc.constantFrom(
		{ type: "string" },
		{ type: "number" },
		{ minimum: 2 },
		{ enum: ["a", 1] },
		true,
		false,
	);
	fc.assert(
		fc.property(
			fc.array(fc.tuple(fc.constantFrom("allOf", "anyOf", "oneOf", "not"), fc.nat(5), fc.nat(5), leaf), {
				minLength: 1,
				maxLength: 6,
			}),
			fc.oneof(fc.string(), fc.integer(), fc.constantFrom("a", 1, null, {}, [])),
			(nodes, value) => {
				const $defs: Record<string, unknown> = {};
				for (const [at, [keyword, one, two, last]] of nodes.entries()) {
					// Only later ones: no schema contains itself.
					const to = (offset: number): unknown =>
						at + 1 + offset < nodes.length ? { $ref: `#/$defs/n${at + 1 + offset}` } : last;
					$defs[`n${at}`] = keyword === "not" ? { not: to(one) } : { [keyword]: [to(one), to(two)] };
				}
				const unfold = (schema: unknown): unknown => {
					if (typeof schema !== "object" || schema === null) return schema;
					if ("$ref" in schema) return unfold($defs[String(schema.$ref).slice(8)]);
					return Object.fromEntries(
						Object.entries(schema).map(([name, inner]) => [
							name,
							Array.isArray(inner) && name !== "enum"
								? inner.map(unfold)
								: name === "not"
									? unfold(inner)
									: inner,
						]),
					);
				};
				const plain = compileSchema(unfold($defs.n0) as object | boolean)(value).length === 0;
				expect(compileSchema({ $defs, $ref: "#/$defs/n0" })(value).length === 0).toBe(plain);
			},
		),
	);
});

test("an endlessly nested schema is rejected at compilation", () => {
	let schema: object = { type: "string" };
	for (let depth = 0; depth < 50_000; depth++) schema = { not: schema };
	expect(() => compileSchema(schema)).toThrow(expect.objectContaining({ code: "invalid_schema" }));
});
