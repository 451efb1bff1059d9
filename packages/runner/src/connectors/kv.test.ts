// The connector for keys and values.
import { expect, test } from "vitest";
import { contextOf } from "./connectors.fixture.ts";
import { kvConnector } from "./index.ts";

const context = contextOf();

test("is safe by default and needs nothing, and always resolves [RUN-071]", async () => {
	const kv = kvConnector();
	expect(kv).toMatchObject({ id: "kv", description: expect.stringMatching(/./), safeByDefault: true });
	expect(kv.requires).toBeUndefined();
	expect(await kv.run({ operation: "list" }, context)).toEqual({ ok: true, output: [] });
	expect(await kv.run({ operation: "get" }, context)).toEqual({
		ok: false,
		meta: { code: "TOOL_INPUT_INVALID", message: '"get" needs a `key`.' },
	});
});

test("gets, sets, deletes and lists; a missing key returns null [RUN-084]", async () => {
	const kv = kvConnector();
	const output = async (input: object) => (await kv.run(input, context)).output;
	expect(await output({ operation: "get", key: "a" })).toBeNull();
	expect(await output({ operation: "set", key: "a", value: { n: [1] } })).toEqual({ existed: false });
	expect(await output({ operation: "set", key: "a", value: { n: [2] } })).toEqual({ existed: true });
	expect(await output({ operation: "get", key: "a" })).toEqual({ n: [2] });
	for (const key of ["b1", "b3", "b2"]) await kv.run({ operation: "set", key, value: null }, context);
	expect(await output({ operation: "list" })).toEqual(["a", "b1", "b2", "b3"]);
	expect(await output({ operation: "list", prefix: "b" })).toEqual(["b1", "b2", "b3"]);
	expect(await output({ operation: "list", prefix: "b", after: "b1", limit: 1 })).toEqual(["b2"]);
	expect(await output({ operation: "delete", key: "a" })).toEqual({ existed: true });
	expect(await output({ operation: "delete", key: "a" })).toEqual({ existed: false });
	expect(await output({ operation: "get", key: "a" })).toBeNull();
});

test("shares no value with its callers [RUN-084]", async () => {
	const kv = kvConnector();
	const given = { list: [1] };
	await kv.run({ operation: "set", key: "a", value: given }, context);
	given.list.push(2);
	const got = (await kv.run({ operation: "get", key: "a" }, context)).output as typeof given;
	expect(got).toEqual({ list: [1] });
	got.list.push(3);
	expect((await kv.run({ operation: "get", key: "a" }, context)).output).toEqual({ list: [1] });
});

test("keeps `__proto__` and similar names as ordinary keys and members [RUN-084]", async () => {
	const kv = kvConnector();
	for (const key of ["__proto__", "constructor", "toString"]) {
		expect((await kv.run({ operation: "get", key }, context)).output).toBeNull();
		const value = JSON.parse('{"__proto__": {"isAdmin": true}}');
		await kv.run({ operation: "set", key, value }, context);
		const { output } = await kv.run({ operation: "get", key }, context);
		expect(Object.getOwnPropertyDescriptor(output, "__proto__")?.value).toEqual({ isAdmin: true });
	}
	expect((await kv.run({ operation: "list" }, context)).output).toEqual([
		"__proto__",
		"constructor",
		"toString",
	]);
	expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
});

test("has a limit of keys and of values, and rejects unreadable ones", async () => {
	const kv = kvConnector({ maxKeys: 1, maxValueCharacters: 5 });
	const code = async (input: unknown) => (await kv.run(input, context)).meta?.code;
	expect(await code({ operation: "set", key: "a", value: "123" })).toBeUndefined();
	expect(await code({ operation: "set", key: "a", value: "1234" })).toBe("KV_FULL");
	expect(await code({ operation: "set", key: "b", value: 1 })).toBe("KV_FULL");
	expect(await code({ operation: "set", key: "a", value: 2 })).toBeUndefined();
	for (const input of [
		{},
		{ operation: "drop" },
		{ operation: "get" },
		{ operation: "set", key: "a" },
		{ operation: "get", key: 5 },
	])
		expect(await code(input)).toBe("TOOL_INPUT_INVALID");
	expect(() => kvConnector({ maxKeys: 0 })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});
