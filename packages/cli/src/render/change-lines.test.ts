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

test("nothing in a file can be hidden from the approver, or control the terminal", () => {
	expect(shown("", "ok\x1b[2K\u202egnp\u200b\tend\x07\n").at(-1)).toBe(
		"+ok\\u{1b}[2K\\u{202e}gnp\\u{200b}\tend\\u{7}",
	);
});

test("line ends are shown only where they change", () => {
	expect(shown("a\r\nb\r\n", "a\r\nc\r\n").slice(-2)).toEqual(["-b", "+c"]);
	expect(shown("a\r\n", "a\n").slice(-2)).toEqual(["-a\\u{d}", "+a"]);
});

test("the changed words of a line are marked, and none if the lines have little in common", () => {
	const place = { absolute: "/x/a.txt", relative: "a.txt", root: "/", kind: "file" as const, size: 1 };
	const words = (before: string, after: string): readonly string[] =>
		changeLines({ place, before, after, versions: { before: null, after: "" }, done: "" }).flatMap(
			({ text, changed = [] }) => changed.map(([from, to]) => `${text[0]}${text.slice(from, to)}`),
		);
	expect(words("The lamp is green now.\n", "The lamp is red now!\n")).toEqual(["-green", "-.", "+red", "+!"]);
	expect(words("one two\n", "three four\n")).toEqual([]);
	expect(words(`${"a ".repeat(1_000)}\n`, `${"a ".repeat(999)}b\n`)).toEqual([]);
	// Escaped characters are compared as they are shown.
	expect(words("a lamp\u0007 here it is\n", "a lamp here it is\n").join("")).toContain("{7}");
});
