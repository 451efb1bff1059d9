import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeFolder } from "./make-folder.ts";

const inTemporary = (): string => mkdtempSync(join(tmpdir(), "holdfast-make-folder-"));
const codeOf = (path: string): unknown => {
	try {
		makeFolder(path);
		return undefined;
	} catch (error) {
		return (error as { code?: unknown }).code;
	}
};
const modeOf = (path: string): number => statSync(path).mode & 0o777;

test("creates the missing folders of any path only for this user, and does not change existing ones", () => {
	const name = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(..."ab .é") });
	const path = fc.array(name, { minLength: 1, maxLength: 6 });
	fc.assert(
		fc.property(fc.array(path, { maxLength: 4 }), (all) => {
			const root = inTemporary();
			for (const parts of all) {
				const made = join(root, ...parts);
				if (relative(root, made).startsWith("..")) continue;
				makeFolder(made);
				expect(statSync(made).isDirectory()).toBe(true);
				for (const [at] of parts.entries()) {
					const part = join(root, ...parts.slice(0, at + 1));
					if (part.length > root.length && existsSync(part)) expect(modeOf(part)).toBe(0o700);
				}
				makeFolder(made);
			}
			rmSync(root, { recursive: true });
		}),
		{ numRuns: 50 },
	);
});

test("gives new folders the requested permissions", () => {
	const root = inTemporary();
	makeFolder(join(root, "a/b"), 0o750);
	expect([modeOf(join(root, "a")), modeOf(join(root, "a/b"))]).toEqual([0o750, 0o750]);
});

describe("throws the error of the file system", () => {
	test("for a file in the folder's place, or above it", () => {
		const root = inTemporary();
		writeFileSync(join(root, "file"), "");
		expect(codeOf(join(root, "file"))).toBe("EEXIST");
		expect(codeOf(join(root, "file/folder"))).toBe("ENOTDIR");
	});

	test("for a dangling link", () => {
		const root = inTemporary();
		symlinkSync(join(root, "nowhere"), join(root, "link"));
		expect(codeOf(join(root, "link"))).toBe("EEXIST");
		expect(existsSync(join(root, "nowhere"))).toBe(false);
	});

	test("follows a link to a folder", () => {
		const root = inTemporary();
		makeFolder(join(root, "folder"));
		symlinkSync(join(root, "folder"), join(root, "link"));
		makeFolder(join(root, "link/inner"));
		expect(existsSync(join(root, "folder/inner"))).toBe(true);
	});

	test.runIf(process.platform === "linux")("if a parent exists but accepts no folders", () => {
		expect(codeOf("/proc/holdfast")).toBe("ENOENT");
		expect(codeOf("/proc/holdfast/a/b")).toBe("ENOENT");
	});

	test("for names that are too long, at any depth", () => {
		expect(codeOf(join(inTemporary(), "n".repeat(300)))).toBe("ENAMETOOLONG");
		expect(codeOf(join(inTemporary(), `d${sep}`.repeat(3_000)))).toBe("ENAMETOOLONG");
	});
});
