import fc from "fast-check";
import { expect, test } from "vitest";
import { Transcript } from "./chat-transcript.ts";
import { makePaint } from "./paint.ts";
import { rowsOf, Viewer, viewLines } from "./viewer.ts";

function opened(...texts: readonly string[]) {
	const transcript = new Transcript();
	for (const [index, text] of texts.entries()) transcript.keep(`call ${index + 1}`, text);
	const viewer = new Viewer(transcript);
	const shown = (columns = 60, height = 10): readonly string[] => {
		const view = viewer.snapshot();
		if (view === undefined) return [];
		return viewLines(view, rowsOf(view.opened.text, columns), { paint: makePaint("none"), columns, height });
	};
	return { viewer, shown, transcript };
}

test("opens the last text, moves to the others, and releases the keys when it is closed", () => {
	const { viewer, shown } = opened("first result", "second result");
	expect(viewer.act({ type: "insert", text: "x" })).toBe(false);
	expect(viewer.act({ type: "open" })).toBe(true);
	expect(shown()).toEqual(
		["call 2", "second result", "", "2 of 2 · ↑↓ PgUp PgDn scroll · ←→ others · Esc c…"].map((line, at) =>
			at === 3 ? expect.stringMatching(/^2 of 2 · /) : line,
		),
	);
	expect(viewer.act({ type: "insert", text: "x" })).toBe(true);
	viewer.act({ type: "left" });
	viewer.act({ type: "left" });
	expect(shown()[0]).toBe("call 1");
	expect(viewer.act({ type: "interrupt" })).toBe(true);
	expect(viewer.act({ type: "interrupt" })).toBe(false);
});

test("nothing opens if there is nothing to open", () => {
	const { viewer, shown } = opened();
	expect(viewer.act({ type: "open" })).toBe(true);
	expect(shown()).toEqual([]);
});

test("a long text is scrolled to its last line and no further", () => {
	const { viewer, shown } = opened(Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n"));
	viewer.act({ type: "open" });
	expect(shown().slice(1, 8)).toEqual(["line 0", "line 1", "line 2", "line 3", "line 4", "line 5", "line 6"]);
	for (let page = 0; page < 60; page++) viewer.act({ type: "page-down" });
	expect(shown()[7]).toBe("line 99");
	expect(shown()[9]).toContain("lines 94–100 of 100");
});

test("no text uses more rows or columns than the screen has, or controls the terminal", () => {
	const unit = fc.constantFrom("a", " ", "\n", "\t", "日", "👩‍👩‍👧", "\u001b[31m", "\u0007", "\r");
	fc.assert(
		fc.property(fc.string({ unit, maxLength: 300 }), fc.integer({ min: 10, max: 80 }), (text, columns) => {
			const { viewer, shown } = opened(text);
			viewer.act({ type: "open" });
			const lines = shown(columns, 8);
			expect(lines.length).toBeLessThanOrEqual(8);
			// biome-ignore lint/suspicious/noControlCharactersInRegex: control codes are what is looked for
			for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f]/);
		}),
	);
});

test("the kept texts are limited", () => {
	const { transcript } = opened(...Array.from({ length: 300 }, () => "x".repeat(100_000)));
	expect(transcript.openables).toHaveLength(200);
	expect(transcript.openables[0]?.text.length).toBeLessThan(50_010);
});
