import { runInNewContext } from "node:vm";
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

describe("a value that was serialised to JSON text", () => {
	test("is unchanged: bytes, dates, special numbers and data that looks like a marker", () => {
		fc.assert(
			fc.property(live, (value) => {
				expect(throughText(value)).toEqual(value);
			}),
			{ numRuns: 500 },
		);
	});

	test("is unchanged after it was encoded twice", () => {
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

	test("is the result of `toJSON` if it has one", () => {
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

test("a shared object without a cycle is encoded at both positions", () => {
	const shared = { at: new Date(0) };
	expect(throughText({ a: shared, b: [shared] })).toEqual({ a: shared, b: [shared] });
});

class Secret {
	readonly #key = 1;
	get key() {
		return this.#key;
	}
}

class Account extends Secret {
	readonly owner = "Ann";
}

test("an instance of a class keeps its members, or is rejected, as requested", () => {
	expect(encodeValue({ a: new Account() })).toEqual({ a: { owner: "Ann" } });
	expect(() => encodeValue({ a: new Account() }, { instances: "refuse" })).toThrow(/"a".*class Account/);
	const bare = Object.assign(Object.create(null), { a: 1 });
	for (const plain of [{ a: {} }, bare, runInNewContext("({ a: [{}] })")])
		expect(encodeValue(plain, { instances: "refuse" })).toEqual({ ...plain });
});

test("binary data of every kind is unchanged, with its bytes as base64", () => {
	const buffer = new Uint8Array([0, 0, 0, 0, 0, 0, 240, 63, 1, 2, 3, 4, 5, 6, 7, 8]).buffer;
	const values = [
		buffer,
		new DataView(buffer, 8, 3),
		new Int8Array(buffer),
		new Uint8ClampedArray(buffer),
		new Int16Array(buffer, 8, 2),
		new Uint16Array(buffer),
		new Int32Array(buffer),
		new Uint32Array(buffer),
		new BigInt64Array(buffer),
		new BigUint64Array(buffer),
		new Float32Array(buffer),
		new Float64Array(buffer),
		new Float64Array(0),
	];
	for (const value of values) {
		const back = throughText({ value }) as { value: unknown };
		expect(back).toStrictEqual({ value });
		expect(Object.prototype.toString.call(back.value)).toBe(Object.prototype.toString.call(value));
	}
	expect((throughText(new DataView(buffer, 8, 3)) as DataView).getUint8(2)).toBe(3);
	expect(JSON.stringify(encodeValue(new Uint16Array([1, 2])))).toContain('"AQACAA=="');
});

describe("a value that JSON cannot represent is rejected with its path", () => {
	const circular: Record<string, unknown> = { list: [] };
	(circular.list as unknown[]).push(circular);
	test.each([
		["a function", { a: { run: () => {} } }, "a.run"],
		["a BigInt", { a: [1, 2n] }, "a.1"],
		["a symbol", [Symbol("x")], "0"],
		["a circle", circular, "list.0"],
		["a Map", { a: new Map() }, "a"],
		["data shared between threads", { a: new Int32Array(new SharedArrayBuffer(4)) }, "a"],
		["an error", { a: new Error("no") }, "a"],
		["an error with members", { a: Object.assign(new Error("no"), { code: "E" }) }, "a"],
		["a RegExp", { a: /x/ }, "a"],
		["a Blob", { a: new Blob(["x"]) }, "a"],
		["a File", { a: [new File(["x"], "x.txt")] }, "a.0"],
		["a promise", { a: Promise.resolve(1) }, "a"],
		["a WeakMap", { a: new WeakMap() }, "a"],
		["a Response", { a: new Response("x") }, "a"],
		["an object whose members are all private", { a: new Secret() }, "a"],
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
			{ $holdfast: ["binary", ["Float64Array", "AQ=="]] },
			{ $holdfast: ["binary", ["Function", "AQ=="]] },
			{ $holdfast: ["binary", ["DataView", 1]] },
			{ $holdfast: ["binary", "AQ=="] },
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
