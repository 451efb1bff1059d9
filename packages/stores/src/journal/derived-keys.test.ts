import { expect, test } from "vitest";
import { claimKey, headKey, segmentKey } from "./derived-keys.ts";

test("no two documents of any sessions share a key", () => {
	const keys = [
		"",
		"a",
		"#",
		"##",
		"a#",
		"a##",
		"a#s.L.1",
		"a##s.L.1",
		"a#0",
		"a\0",
		"a#\0",
		"a\0#",
		"#d.g.k",
	];
	const derived = keys.flatMap((key) => [
		headKey(key),
		segmentKey(key, "L", 1),
		segmentKey(key, "L", 11),
		claimKey(key, "g", "k"),
		claimKey(key, "g", "k#s.L.1"),
	]);
	expect(new Set(derived).size).toBe(derived.length);
	expect(derived.filter((key) => key.includes("\0"))).toEqual([]);
});

test("a plain key's head is kept under the key itself", () => {
	expect(headKey("room:7:user:é")).toBe("room:7:user:é");
});
