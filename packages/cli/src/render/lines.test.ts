import { AgentState } from "holdfast";
import { expect, test } from "vitest";
import { endLines, stopNote } from "./lines.ts";

test("a run that waits for its model says until when, why, and what continues it", () => {
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
] as const)("an answer that the model stopped with %s has a line that says so", (stopReason, line) => {
	expect(stopNote(stopReason)).toMatch(line);
	expect(stopNote("stop")).toBeUndefined();
});
