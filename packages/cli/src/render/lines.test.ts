import { AssistantMessage } from "@holdfast/upp";
import { AgentState, type RunEvent } from "holdfast";
import { expect, test } from "vitest";
import type { Output } from "../terminal/index.ts";
import { jsonRenderer } from "./json.ts";
import { endLines, stopNote } from "./lines.ts";
import { plainRenderer } from "./plain-renderer.ts";
import type { Renderer } from "./renderer.ts";
import { terminalRenderer } from "./terminal.ts";

const replacing: RunEvent = {
	type: "message",
	at: 0,
	seq: 2,
	sub: 0,
	step: 1,
	tag: "final-output",
	message: new AssistantMessage("Hello, signed."),
	replaces: "m1",
	usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
	stopReason: "stop",
	modelId: "loop",
	duration: 0,
};

test.each<[string, (output: Output) => Renderer]>([
	["plain text", plainRenderer],
	["a terminal", (output) => terminalRenderer(output)],
])("an answer that replaces the streamed one follows it, with a note, in %s", (_, rendererOf) => {
	let written = "";
	const renderer = rendererOf({
		isTerminal: false,
		hasColours: false,
		columns: 80,
		rows: 24,
		write: (text) => {
			written += text;
		},
	});
	const delta = { type: "text_delta", index: 0, delta: { text: "Hello" } } as const;
	renderer.event({ type: "model", seq: 1, sub: 1, step: 1, tag: "act", event: delta });
	renderer.event(replacing);
	expect(written).toMatch(/Hello\nThe answer above was replaced by this one:\n\n?Hello, signed\./);
});

test.each<[string, (output: Output) => Renderer]>([
	["plain text", plainRenderer],
	["a terminal", (output) => terminalRenderer(output)],
])("consecutive lookups share a line, and failed ones have their own, in %s", (_, rendererOf) => {
	const pieces: string[] = [];
	const output = { isTerminal: false, hasColours: false, columns: 120, rows: 24 };
	const renderer = rendererOf({ ...output, write: (text) => void pieces.push(text) });
	const end = (toolName: string, input: object, outcome: "done" | "error" = "done"): void => {
		const call = { toolCallId: JSON.stringify(input), toolName, arguments: { ...input } };
		const place = { at: 0, seq: 1, sub: 0, step: 1, tag: "act", index: 0, toolName } as const;
		renderer.event({ ...place, type: "tool_start", call, input, attempt: 1 } as RunEvent);
		renderer.event({
			...place,
			type: "tool_end",
			call,
			outcome,
			result: "red:\n- green",
			duration: 4,
		} as RunEvent);
	};
	for (const path of ["a.md", "b.md", "c.md", "d.md", "e.md"]) end("read_file", { path });
	end("search_text", { pattern: "lamp" });
	end("read_file", { path: "gone.md" }, "error");
	end("read_file", { path: "f.md" });
	renderer.note("later");
	const lines = pieces
		.join("")
		.split("\n")
		.filter((line) => /[✓✗]|later/.test(line));
	expect(lines.map((line) => line.replace(/^.*(?=[✓✗])/, ""))).toEqual([
		"✓ 5 × read_file a.md, b.md, c.md and 2 more · 4 ms",
		"✓ search_text pattern=lamp · 4 ms · red:",
		"✗ read_file path=gone.md · 4 ms · error: red: - green",
		"✓ read_file path=f.md · 4 ms · red:",
		"later",
	]);
});

test("an answer that replaces the streamed one is marked in JSON", () => {
	const lines: string[] = [];
	const output = { isTerminal: false, hasColours: false, columns: 80, rows: 24 };
	jsonRenderer({ ...output, write: (text) => void lines.push(text) }).event(replacing);
	expect(JSON.parse(lines[0] ?? "")).toMatchObject({ type: "message", replaces: true });
});

test("a run that waits for its model shows until when, why, and what continues it", () => {
	const wait = {
		tag: "model",
		until: Date.UTC(2030, 0, 1),
		model: { since: 0, attempt: 2, code: "RATE_LIMITED" },
	};
	const lines = endLines({
		result: {
			runId: "r",
			outcome: "waiting",
			pending: [],
			wait,
			text: "",
			state: AgentState.initial(),
			usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
			steps: 0,
		},
		exitCode: 0,
		header: { sessionKey: "s", model: "gpt", reason: undefined, dir: "." },
		duration: 1_000,
		resumeCommand: "holdfast resume s --db a.db",
		showCommand: "holdfast show s --db a.db",
		continueCommand: "holdfast run",
		workCommand: "holdfast worker --db a.db",
		waiting: [],
	});
	expect(lines[0]).toMatch(/^waiting for 2030-01-01T00:00:00.000Z \(RATE_LIMITED\) after /);
	expect(lines.slice(1)).toEqual([
		"continue it:  holdfast worker --db a.db",
		"show:         holdfast show s --db a.db",
	]);
});

test.each([
	["length", /token limit/],
	["content_filter", /refused or filtered/],
	["other", /without a known reason/],
] as const)("an answer that the model stopped with %s has a line that explains it", (stopReason, line) => {
	expect(stopNote(stopReason)).toMatch(line);
	expect(stopNote("stop")).toBeUndefined();
});
