import fc from "fast-check";
import { expect, test } from "vitest";
import { folderOf, isHashed, sessionOf } from "./session-folder.ts";

const id = fc.oneof(
	fc.string({ unit: "binary" }),
	fc.string({ unit: fc.constantFrom(".", "/", "%", "0", "2", "e", "a", "\\", "\ud83d") }),
);

test("plain names are used unchanged", () => {
	for (const name of ["s", "my-session", "user-123_task.4", "7d0d9a5e-1d8c-4e34-9a3c-111111111111"]) {
		expect(folderOf(name)).toBe(name);
	}
});

test("a folder's name is valid in every file system and identifies its session", () => {
	fc.assert(
		fc.property(id, (sessionId) => {
			const folder = folderOf(sessionId);
			expect(folder).toMatch(/^[A-Za-z0-9_%-][A-Za-z0-9._%-]*$/);
			expect(folder).not.toMatch(/\.$/);
			if (!isHashed(folder)) expect(sessionOf(folder)).toBe(sessionId);
		}),
		{ numRuns: 1_000 },
	);
});

test("two sessions never share a folder, however long their names are", () => {
	fc.assert(
		fc.property(id, id, fc.constantFrom("", "x".repeat(300)), (a, b, end) => {
			expect(folderOf(a + end) === folderOf(b + end)).toBe(a === b);
		}),
		{ numRuns: 1_000 },
	);
	expect(folderOf("😀".repeat(5_000)).length).toBeLessThan(255);
});

test("a folder without a session has no session name", () => {
	for (const folder of ["%002E", "%sha256-x", ".hidden", "a b", "%zz"])
		expect(sessionOf(folder)).toBeUndefined();
});
