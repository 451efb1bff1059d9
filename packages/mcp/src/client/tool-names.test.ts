// Names of tools: fit for every model, each once, and never taken over by another server.
import fc from "fast-check";
import { expect, test } from "vitest";
import { nameTools } from "./tool-names.ts";

test("a tool keeps its name if it is unique", () => {
	const tools = [
		{ server: "a", name: "read" },
		{ server: "b", name: "write" },
	];
	expect(nameTools(tools, {})).toEqual(["read", "write"]);
	expect(nameTools(tools, { prefix: "always" })).toEqual(["a_read", "b_write"]);
	expect(nameTools(tools, { reserved: ["read"] })).toEqual(["a_read", "write"]);
});

test("names that clash are all prefixed with their servers', so that none replaces another", () => {
	const tools = [
		{ server: "a", name: "read" },
		{ server: "b", name: "read" },
		{ server: "b", name: "write" },
	];
	expect(nameTools(tools, {})).toEqual(["a_read", "b_read", "write"]);
});

test("names are converted for models", () => {
	const [dotted, digit, long] = nameTools(
		[
			{ server: "a", name: "files.read/all" },
			{ server: "a", name: "2fa" },
			{ server: "a", name: "x".repeat(100) },
		],
		{},
	);
	expect([dotted, digit]).toEqual(["files_read_all", "_2fa"]);
	expect(long).toMatch(/^x{55}_[0-9a-f]{8}$/);
});

test("for any tool names of servers, each has a unique name that every model accepts", () => {
	const name = fc.oneof(
		fc.constantFrom("a", "b", "a_b", "b_c", "c", "a.b", "a/b"),
		fc.string({ maxLength: 140 }),
	);
	const server = fc.constantFrom("a", "b", "a_b");
	fc.assert(
		fc.property(
			fc.uniqueArray(fc.record({ server, name }), { selector: (tool) => `${tool.server}/${tool.name}` }),
			fc.array(name, { maxLength: 3 }),
			fc.constantFrom("clash" as const, "always" as const),
			(tools, reserved, prefix) => {
				const names = nameTools(tools, { reserved, prefix });
				expect(new Set([...names, ...reserved]).size).toBe(names.length + new Set(reserved).size);
				for (const each of names) expect(each).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
				// Not a matter of order.
				const turned = nameTools([...tools].reverse(), { reserved, prefix });
				expect([...turned].reverse()).toEqual(names);
			},
		),
	);
});
