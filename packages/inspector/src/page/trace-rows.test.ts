import { expect, test } from "vitest";
import type { ShownEntry } from "../wire/index.ts";
import { Timeline } from "./timeline-model.ts";
import { shownRows, traceRows } from "./trace-rows.ts";

let seq = 0;
function entry(kind: string, body: object, at: number): ShownEntry {
	seq++;
	return { seq, at, runId: "r", kind, body: body as ShownEntry["body"] };
}

function answer(step: number, at: number, calls: readonly [id: string, name: string][] = []): ShownEntry {
	const toolCalls = calls.map(([toolCallId, toolName]) => ({ toolCallId, toolName, arguments: {} }));
	const message = { content: [{ type: "text", text: `Answer ${step}` }], toolCalls };
	const usage = { inputTokens: 10, outputTokens: 5 };
	return entry("assistant", { step, tag: "act", message, usage, modelId: "m", duration: 10, cost: 0.5 }, at);
}

function timelineOf(entries: readonly ShownEntry[]): Timeline {
	const timeline = new Timeline();
	for (const each of entries) timeline.add(each);
	return timeline;
}

function twoSteps(): Timeline {
	seq = 0;
	return timelineOf([
		entry("run.started", { runKind: "user-turn" }, 0),
		entry("input", { message: { content: [{ type: "text", text: "Go" }] } }, 1),
		answer(1, 20, [["c1", "delegate_to_helper"]]),
		entry("tool.started", { step: 1, callId: "c1", name: "delegate_to_helper", attempt: 1 }, 20),
		entry("tool.settled", { step: 1, callId: "c1", outcome: "done", result: "found" }, 50),
		answer(2, 70),
		entry("run.ended", { outcome: "completed" }, 70),
	]);
}

const drawn = (rows: ReturnType<typeof traceRows>) =>
	rows.map(({ depth, kind, label }) => `${"  ".repeat(depth)}${kind} ${label}`);

test("a run contains its steps, and a step its answer and its calls", () => {
	const rows = traceRows(twoSteps());
	expect(drawn(rows)).toEqual([
		"run Run 1",
		"  input input",
		"  step Step 1",
		"    model m",
		"    tool delegate_to_helper",
		"  step Step 2",
		"    model m",
	]);
	const step = rows[2];
	expect(step).toMatchObject({ start: 10, end: 50, tokens: 15, cost: 0.5, detail: "delegate_to_helper" });
	expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
});

test("events in the middle of a step stay inside it", () => {
	seq = 0;
	const rows = traceRows(
		timelineOf([
			entry("run.started", { runKind: "user-turn" }, 0),
			answer(1, 20, [["c1", "pay"]]),
			entry("waiting", { step: 1, calls: [{ callId: "c1", awaits: "approval" }] }, 20),
			entry("run.resumed", { attempt: 2, reason: "answered" }, 90),
			entry("tool.started", { step: 1, callId: "c1", name: "pay", attempt: 1 }, 90),
		]),
	);
	expect(drawn(rows)).toEqual([
		"run Run 1",
		"  step Step 1",
		"    model m",
		"    wait wait",
		"    note resumed",
		"    tool pay",
	]);
});

test("a sub-agent's work is inside its call, on the time scale of the run that called it", () => {
	const parent = twoSteps();
	const inner = timelineOf([
		entry("run.started", { runKind: "subagent" }, 25),
		answer(1, 40),
		entry("run.ended", { outcome: "completed" }, 45),
	]);
	expect(traceRows(parent, () => "unread").find(({ kind }) => kind === "tool")?.hasRows).toBe(true);
	const rows = traceRows(parent, () => ({ child: "helper", timeline: inner }));
	expect(drawn(rows).slice(4, 8)).toEqual([
		"    tool delegate_to_helper",
		"      run Run 1",
		"        step Step 1",
		"          model m",
	]);
	expect(rows.slice(5, 8).every(({ run, child }) => run === parent.spans[0] && child === "helper")).toBe(
		true,
	);
});

test("closed rows hide their contents; a search shows matches with the rows that contain them", () => {
	const rows = traceRows(twoSteps());
	const step = rows[2]?.key ?? "";
	expect(drawn(shownRows(rows, new Set([step]), ""))).toEqual([
		"run Run 1",
		"  input input",
		"  step Step 1",
		"  step Step 2",
		"    model m",
	]);
	expect(drawn(shownRows(rows, new Set([step]), "answer 1"))).toEqual([
		"run Run 1",
		"  step Step 1",
		"    model m",
	]);
	expect(shownRows(rows, new Set(), "nothing like this")).toEqual([]);
});

test("a step of many calls costs as much as its calls", () => {
	seq = 0;
	const calls = Array.from({ length: 5_000 }, (_, at) => [`c${at}`, "add"] as [string, string]);
	const entries = [entry("run.started", { runKind: "user-turn" }, 0), answer(1, 20, calls)];
	for (const [callId, name] of calls)
		entries.push(entry("tool.started", { step: 1, callId, name, attempt: 1 }, 20));
	expect(traceRows(timelineOf(entries))).toHaveLength(5_003);
});
