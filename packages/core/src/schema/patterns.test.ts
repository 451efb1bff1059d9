import { describe, expect, test } from "vitest";
import { compileSchema } from "./compile-schema.ts";

const long = (pattern: string, text: string): number => {
	const check = compileSchema({ type: "string", pattern });
	const began = performance.now();
	expect(check(text)).toEqual([{ path: "", message: "takes too long to be checked against its schema" }]);
	return performance.now() - began;
};

describe("a pattern that would never finish", () => {
	test.each([
		["a group that repeats what repeats", "^(a+)+$"],
		["choices that are the same", "^(a|a)*$"],
		["many that may be there", "^(a?a?a?a?a?a?){12}$"],
		["a reference to a group", "^(a*)*\\1b$"],
	])("is aborted: %s", (_what, pattern) => {
		expect(long(pattern, `${"a".repeat(38)}!`)).toBeLessThan(2_000);
	});

	test("is aborted as the name of a property, and the next validation works", () => {
		const check = compileSchema({ patternProperties: { "(x+x+)+y": { type: "number" } } });
		expect(check({ ["x".repeat(60)]: 1 })).toMatchObject([{ message: /takes too long/ }]);
		expect(check({ xxy: "a" })).toMatchObject([{ path: "xxy" }]);
		expect(check({ xxy: 1 })).toEqual([]);
	});

	test("is aborted on very long texts, too", () => {
		expect(long("a+a+b", "a".repeat(200_000))).toBeLessThan(2_000);
	});
});

test.each([
	["^[a-z]+$", "abc", true],
	["^[a-z]+$", "ab1", false],
	["^\\d{4}-\\d{2}$", "2024-05", true],
	["^\\d{4}-\\d{2}$", "2024-5", false],
	["^(?:a|b)*$", "abba", true],
	["^(?=.*\\d)(?=.*[a-z]).{4,}$", "abc1", true],
	["^(?=.*\\d)(?=.*[a-z]).{4,}$", "abcd", false],
	["^(.)\\1$", "aa", true],
	["^(.)\\1$", "ab", false],
	["[*+]{2}x", "a*+x", true],
	["", "x", true],
])("the pattern %s and %j: %s", (pattern, text, fits) => {
	expect(compileSchema({ pattern })(text).length === 0).toBe(fits);
});
