import { expect, test } from "vitest";
import { readCaller } from "./caller.ts";

test("a caller is copied as JSON and cannot be changed afterwards", () => {
	const claims = { roles: ["clerk"], since: new Date(0), undefined: undefined };
	const caller = readCaller({ tenant: "t", user: "u", claims, password: "x" });
	claims.roles.push("admin");
	expect(caller).toEqual({
		tenant: "t",
		user: "u",
		claims: { roles: ["clerk"], since: "1970-01-01T00:00:00.000Z" },
	});
	const { roles } = caller.claims as { roles: string[] };
	expect(() => roles.push("admin")).toThrow(TypeError);
	expect(() => Object.assign(caller, { user: "other" })).toThrow(TypeError);
});

test("an invalid caller is rejected with what is wrong with it", () => {
	const circular: Record<string, unknown> = {};
	circular.self = circular;
	for (const [given, what] of [
		[undefined, "not an object"],
		["t", "not an object"],
		[{ tenant: "" }, "`tenant`"],
		[{ user: 7 }, "`user`"],
		[{ user: "u".repeat(1_001) }, "`user`"],
		[{ claims: ["x"] }, "`claims` that are not an object"],
		[{ claims: circular }, "JSON"],
		[{ claims: { id: 7n } }, "JSON"],
		[{ claims: { text: "x".repeat(16 * 1024) } }, "the limit is 16384"],
	] as const)
		expect(() => readCaller(given)).toThrow(
			expect.objectContaining({ code: "invalid_caller", message: expect.stringContaining(what) }),
		);
});
