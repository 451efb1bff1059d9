import { execFileSync } from "node:child_process";
import { scriptedModel } from "@holdfast/testing";
import { Agent } from "holdfast";
import { expect, test } from "vitest";
import type { ShownEntry } from "../wire/index.ts";
import { curlOf, nodeOf, testCaseOf } from "./node-model.ts";

function entriesOf(input: string): readonly ShownEntry[] {
	const said = (text: string) => ({ content: text === "" ? [] : [{ type: "text", text }] });
	const call = { toolCallId: "c1", toolName: "add", arguments: { a: 1 } };
	const bodies: [string, object][] = [
		["run.started", { runKind: "user-turn" }],
		["input", { message: said(input) }],
		["assistant", { step: 1, message: { ...said(""), toolCalls: [call] } }],
		["tool.started", { step: 1, callId: "c1", name: "add", attempt: 1 }],
		["tool.started", { step: 1, callId: "c1", name: "add", attempt: 2, input: { a: 2 } }],
		["tool.settled", { step: 1, callId: "c1", outcome: "error", result: "No.", stack: "at add" }],
		["assistant", { step: 2, message: said('It is "two".') }],
		["run.ended", { outcome: "completed" }],
	];
	return bodies.map(([kind, body], index) => ({
		seq: index + 1,
		at: index,
		runId: "r",
		kind,
		body: body as ShownEntry["body"],
	}));
}

test("a call has its input next to its output, whichever of its entries was selected", () => {
	const entries = entriesOf("Add");
	expect(nodeOf(entries, 4)).toMatchObject({
		kind: "tool",
		name: "add",
		input: { a: 1 },
		settled: { seq: 6 },
	});
	expect(nodeOf(entries, 5)).toMatchObject({ input: { a: 2 }, started: { seq: 5 }, settled: { seq: 6 } });
	expect(nodeOf(entries, 6)).toMatchObject({ input: { a: 2 }, started: { seq: 5 } });
	expect(nodeOf(entries.slice(0, 4), 4)).toMatchObject({ kind: "tool", settled: undefined });
	expect(nodeOf(entries, 1)).toMatchObject({ kind: "run", ended: { seq: 8 } });
	expect(nodeOf(entries, 9)).toBeUndefined();
});

test("the copied command sends the same message from a shell, for any content", () => {
	for (const input of ["It's $HOME", 'a "b" `c`\n\\n', "'; echo no; '"]) {
		const command = curlOf(entriesOf(input), "r", "http://x").replace(/^curl/, "printf '%s\\0'");
		const words = execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" }).split("\0");
		expect(JSON.parse(words[words.indexOf("-d") + 1] ?? "")).toEqual({ input });
	}
});

test("the copied test case runs the recorded answers", async () => {
	const [, ...lines] = testCaseOf(entriesOf('Say "two"\n`now`'), "r", "Be brief.")
		.split("\n")
		.filter((line) => !line.startsWith("import "));
	const script = lines.join("\n").replace("tools: [], // Add your tools: add.", "tools,");
	const add = { name: "add", description: "Adds.", parameters: { type: "object" }, run: () => 3 };
	let title = "";
	let run: (() => Promise<void>) | undefined;
	const declare = (name: string, body: () => Promise<void>): void => {
		title = name;
		run = body;
	};
	// The example has no types.
	new Function("scriptedModel", "Agent", "expect", "test", "tools", script)(
		scriptedModel,
		Agent,
		expect,
		declare,
		[add],
	);
	expect(title).toBe('Say "two"\n`now`');
	await run?.();
});

test("the copied test case contains only the recorded text, for any called name", () => {
	const entries = entriesOf("Add").map((entry) =>
		entry.seq === 3
			? {
					...entry,
					body: {
						step: 1,
						message: {
							content: [],
							toolCalls: [{ toolCallId: "c1", toolName: "add\nstolen();\u2028stolen();", arguments: {} }],
						},
					},
				}
			: entry,
	);
	expect(testCaseOf(entries, "r", undefined)).toContain("// Add your tools: add_stolen____stolen___.\n");
});
