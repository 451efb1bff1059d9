import type { RunEvent } from "holdfast";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { terminalRenderer } from "./terminal.ts";

beforeEach(() => {
	vi.useFakeTimers();
});
afterEach(() => {
	vi.restoreAllMocks();
	vi.useRealTimers();
});

const ESCAPE = "\x1b";
const TOKENS = new RegExp(`${ESCAPE}\\[\\d*[A-Za-z]|\\r|\\n|[^${ESCAPE}\\r\\n]+`, "g");

/** A terminal that supports what the renderer writes: text, line ends, cursor up, erase below. */
function screen(): { write(text: string): void; readonly lines: string[] } {
	let lines: string[] = [""];
	let row = 0;
	return {
		get lines() {
			return lines.filter((line, index) => line !== "" || index < lines.length - 1);
		},
		write(text) {
			for (const [token] of text.matchAll(TOKENS)) {
				const code = token.startsWith(ESCAPE) ? /(\d*)([A-Za-z])$/.exec(token) : null;
				if (code?.[2] === "A") row = Math.max(0, row - Number(code[1]));
				else if (code?.[2] === "J") lines = [...lines.slice(0, row), ""];
				else if (token === "\n") {
					row++;
					lines[row] ??= "";
				} else if (token !== "\r" && !code) lines[row] = (lines[row] ?? "") + token;
			}
		},
	};
}

const at = { seq: 1, sub: 0 };
const call = (id: string, name: string) => ({ toolCallId: id, toolName: name, arguments: {} });
const started = (id: string, name: string): RunEvent => ({
	type: "tool_start",
	toolName: name,
	at: 0,
	...at,
	step: 1,
	index: 0,
	call: call(id, name),
	input: { path: `${id}.md` },
	attempt: 1,
});
const ended = (id: string, name: string): RunEvent => ({
	type: "tool_end",
	toolName: name,
	at: 0,
	...at,
	step: 1,
	index: 0,
	call: call(id, name),
	outcome: "done",
	result: "3 files\nmore",
	duration: 12,
});
const text = (delta: string): RunEvent => ({
	type: "model",
	...at,
	step: 1,
	tag: "act",
	event: { type: "text_delta", index: 0, delta: { text: delta } },
});

test("running tools spin below finished lines, and each leaves one line when it ends", async () => {
	const set = vi.spyOn(globalThis, "setInterval");
	const cleared = vi.spyOn(globalThis, "clearInterval");
	const terminal = screen();
	const renderer = terminalRenderer(
		{ ...terminal, write: terminal.write, isTerminal: true, hasColours: false, columns: 80, rows: 24 },
		() => Date.now(),
	);
	renderer.event({ type: "model_start", ...at, step: 1, tag: "act", modelId: "m" });
	await vi.advanceTimersByTimeAsync(200);
	expect(terminal.lines.at(-1)).toMatch(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] thinking \d+ ms$/);
	renderer.event(text("Let me "));
	renderer.event(text("look."));
	renderer.event(started("a", "read_file"));
	renderer.event(started("b", "read_file"));
	await vi.advanceTimersByTimeAsync(200);
	expect(terminal.lines.slice(-2).map((line) => line.slice(2, 21))).toEqual([
		"read_file path=a.md",
		"read_file path=b.md",
	]);
	renderer.event(ended("b", "read_file"));
	await vi.advanceTimersByTimeAsync(200);
	renderer.event(ended("a", "read_file"));
	renderer.event(text("Done.\n"));
	expect(terminal.lines.filter((line) => line !== "")).toEqual([
		"Let me look.",
		"✓ read_file path=b.md · 12 ms · 3 files",
		"✓ read_file path=a.md · 12 ms · 3 files",
		"Done.",
	]);
	const frames = set.mock.results.filter((_, index) => set.mock.calls[index]?.[1] === 80);
	expect(frames.length).toBeGreaterThan(0);
	expect(cleared.mock.calls.map(([timer]) => timer)).toEqual(
		expect.arrayContaining(frames.map(({ value }) => value)),
	);
});

test("more tools than the screen has rows are counted, so that the block can always be erased", async () => {
	const terminal = screen();
	const renderer = terminalRenderer(
		{ ...terminal, write: terminal.write, isTerminal: true, hasColours: false, columns: 80, rows: 8 },
		() => Date.now(),
	);
	for (let index = 0; index < 30; index++) renderer.event(started(`t${index}`, "read_file"));
	await vi.advanceTimersByTimeAsync(100);
	expect(terminal.lines.length).toBe(5);
	expect(terminal.lines.at(-1)).toContain("and 26 more");
});

test("text of a model or a file cannot control the terminal", () => {
	const terminal = { text: "" };
	const renderer = terminalRenderer({
		write: (part) => {
			terminal.text += part;
		},
		isTerminal: true,
		hasColours: false,
		columns: 80,
		rows: 24,
	});
	renderer.event(text("\x1b]0;title\x07\x1b[2Jhello\x1b[31m\n"));
	renderer.note("noted\x1b[31m");
	const error = { name: "Error", code: "run_failed", message: "retried\x1b]52;c;aGk=\x07" };
	renderer.event({ type: "model_retry", ...at, step: 1, attempt: 2, delay: 5, error } as unknown as RunEvent);
	for (const shown of ["hello", "noted", "retried"]) expect(terminal.text).toContain(shown);
	// The renderer itself erases the lines below the cursor.
	const own = new RegExp(`${ESCAPE}\\[\\d*[AJ]`, "g");
	expect(terminal.text.replaceAll(own, "")).not.toContain(ESCAPE);
});
