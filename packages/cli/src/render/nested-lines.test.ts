import { expect, test } from "vitest";
import { nestedLines } from "./nested-lines.ts";

const from = { subagentId: "s", subagentType: "explorer", parentToolCallId: "c" };
const observation = (data: unknown): unknown => ({
	source: "uap",
	uap: { type: "observation", step: 1, data },
});
const within = (innerEvent: unknown): unknown => ({ ...from, type: "subagent_event", innerEvent });

test("a sub-agent's activity is indented below its call, level by level", () => {
	const inner = {
		source: "uap",
		uap: { type: "subagent_start", data: { ...from, subagentType: "reader", prompt: "Read it." } },
	};
	const events = [
		{ ...from, type: "subagent_start", prompt: "Look\naround." },
		within(
			observation({ results: [{ toolName: "list", result: "3 files\nmore", isError: false, duration: 4 }] }),
		),
		within(inner),
		within({
			source: "uap",
			uap: {
				type: "subagent_event",
				data: within(observation({ results: [{ toolName: "read", result: "no", isError: true }] })),
			},
		}),
		{ ...from, type: "subagent_end", success: false, error: "Too long." },
	];
	expect(events.flatMap((event) => nestedLines(event))).toEqual([
		"  ▸ explorer: Look around.",
		"    ✓ list · 4 ms · 3 files",
		"    ▸ reader: Read it.",
		"      ✗ read · no",
		"  ✗ explorer: Too long.",
	]);
});

test("work for a sub-agent shows its start and its end", () => {
	const job = { subagent: "helper" };
	expect(
		[
			{ ...job, type: "subagent-job-start", run_in_background: true, description: "dig" },
			{ ...job, type: "subagent-job-update", status: "running", task_id: "t" },
			{ ...job, type: "subagent-job-end", status: "cancelled", eventCount: 2 },
		].flatMap((event) => nestedLines(event)),
	).toEqual(["  ▸ helper in the background: dig", "  ✗ helper: cancelled"]);
});

test.each([
	[null],
	["text"],
	[{ type: "subagent_event" }],
	[within(null)],
	[within(observation({ results: "all" }))],
	[within({ uap: { type: "observation" } })],
])("a malformed event shows nothing: %j", (event) => {
	expect(nestedLines(event)).toEqual([]);
});

test("events of sub-agents that are nested too deeply, and lines that are too wide, are cut", () => {
	let event: unknown = { ...from, type: "subagent_start", prompt: "deep" };
	for (let level = 0; level < 10_000; level++)
		event = within({ uap: { type: "subagent_event", data: event } });
	expect(nestedLines(event)).toEqual([]);
	const wide = nestedLines({ ...from, type: "subagent_start", prompt: "wide ".repeat(100) }, 40);
	expect(wide.map((line) => line.length)).toEqual([40]);
});
