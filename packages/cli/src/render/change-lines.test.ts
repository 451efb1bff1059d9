import { expect, test } from "vitest";
import type { PlannedChange } from "../tools/index.ts";
import { changeLines } from "./change-lines.ts";

function shown(before: string | undefined, after: string): string[] {
	const place = { absolute: "/x/a.txt", relative: "a.txt", root: "/", kind: "file" as const, size: 1 };
	const change: PlannedChange = { place, before, after, versions: { before: null, after: "" }, done: "" };
	return changeLines(change).map(({ text }) => text);
}

test("a change is shown as a unified diff", () => {
	expect(shown("a\nb\n", "a\nc")).toEqual([
		"--- a.txt",
		"+++ a.txt",
		"@@ -1,2 +1,2 @@",
		" a",
		"-b",
		"+c",
		"\\ No newline at end of file",
	]);
	expect(shown(undefined, "new\n")).toEqual(["--- /dev/null", "+++ a.txt", "@@ -0,0 +1,1 @@", "+new"]);
});

test("nothing in a file can hide from who approves it, or steer the terminal", () => {
	expect(shown("", "ok\x1b[2K\u202egnp\u200b\tend\x07\n").at(-1)).toBe(
		"+ok\\u{1b}[2K\\u{202e}gnp\\u{200b}\tend\\u{7}",
	);
});

test("line ends are shown where they change, and only there", () => {
	expect(shown("a\r\nb\r\n", "a\r\nc\r\n").slice(-2)).toEqual(["-b", "+c"]);
	expect(shown("a\r\n", "a\n").slice(-2)).toEqual(["-a\\u{d}", "+a"]);
});
