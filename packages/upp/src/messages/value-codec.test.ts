import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isHoldfastError } from "../errors/index.ts";
import { base64ToBytes, bytesToBase64, decodeValue, encodeValue } from "./value-codec.ts";

const bytes = fc.uint8Array({ maxLength: 40 });
const date = fc.date({ noInvalidDate: false });
const key = fc.oneof(fc.string(), fc.constantFrom("$holdfast", "__proto__", "constructor", "toString"));

const { live } = fc.letrec((tie) => ({
	live: fc.oneof(
		{ maxDepth: 4 },
		fc.string(),
		fc.double(),
		fc.boolean(),
		fc.constant(null),
		bytes,
		date,
		fc.constantFrom({ $holdfast: ["bytes", "AQI="] }, { $holdfast: 1 }, { $holdfast: ["date", "x"] }),
		fc.array(tie("live"), { maxLength: 4 }),
		fc
			.array(fc.tuple(key, tie("live")), { maxLength: 4 })
			.map((entries) => Object.fromEntries(entries) as unknown),
	),
}));

function throughText(value: unknown): unknown {
	return decodeValue(JSON.parse(JSON.stringify(encodeValue(value))));
}

describe("a value that went through JSON text", () => {
	test("is what it was: bytes, dates, odd numbers and data that looks like a marker", () => {
		fc.assert(
			fc.property(live, (value) => {
				expect(throughText(value)).toEqual(value);
			}),
			{ numRuns: 500 },
		);
	});

	test("is what it was when it was encoded twice", () => {
		fc.assert(
			fc.property(live, (value) => {
				expect(decodeValue(decodeValue(encodeValue(encodeValue(value))) as never)).toEqual(value);
			}),
			{ numRuns: 200 },
		);
	});

	test("never changes a prototype", () => {
		const value = JSON.parse('{"__proto__": {"polluted": true}, "data": {"__proto__": [1]}}');
		const back = throughText({ ...value, bytes: new Uint8Array([1]) }) as Record<string, unknown>;
		expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
		expect(Object.hasOwn(back, "__proto__")).toBe(true);
		expect((back as { polluted?: boolean }).polluted).toBeUndefined();
	});

	test("loses undefined members, as in JSON", () => {
		expect(throughText({ a: undefined, b: [undefined], c: 1 })).toEqual({ b: [null], c: 1 });
	});

	test("is what `toJSON` says where there is one", () => {
		expect(throughText({ at: { toJSON: () => ({ plain: new Uint8Array([1]) }) } })).toEqual({
			at: { plain: new Uint8Array([1]) },
		});
	});
});

test("plain JSON is passed on uncopied", () => {
	const value = { a: [1, { b: "text" }], c: null };
	expect(encodeValue(value)).toBe(value);
	expect(decodeValue(value)).toBe(value);
});

test("a shared object that is no circle is encoded at both places", () => {
	const shared = { at: new Date(0) };
	expect(throughText({ a: shared, b: [shared] })).toEqual({ a: shared, b: [shared] });
});

describe("what JSON cannot say is refused with the path to it", () => {
	const circular: Record<string, unknown> = { list: [] };
	(circular.list as unknown[]).push(circular);
	test.each([
		["a function", { a: { run: () => {} } }, "a.run"],
		["a BigInt", { a: [1, 2n] }, "a.1"],
		["a symbol", [Symbol("x")], "0"],
		["a circle", circular, "list.0"],
		["a Map", { a: new Map() }, "a"],
		["other binary data", { a: new Float64Array(1) }, "a"],
	])("%s", (_, value, path) => {
		expect(() => encodeValue(value)).toThrow(
			expect.objectContaining({ code: "unserialisable_value", data: { path } }),
		);
	});

	test("and so is a damaged marker", () => {
		for (const damaged of [
			{ $holdfast: ["bytes", 1] },
			{ $holdfast: "x" },
			{ $holdfast: ["new kind", ""] },
		]) {
			expect(() => decodeValue(damaged)).toThrow(expect.toSatisfy(isHoldfastError));
		}
	});
});

test("base64 is the same with and without the runtime's own conversion", () => {
	fc.assert(
		fc.property(bytes, (value) => {
			const text = Buffer.from(value).toString("base64");
			expect(bytesToBase64(value)).toBe(text);
			expect([...base64ToBytes(text)]).toEqual([...value]);
		}),
	);
});
