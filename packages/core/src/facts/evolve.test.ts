import { AssistantMessage, UserMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { AgentState } from "../state/agent-state.ts";
import { evolve } from "./evolve.ts";
import type { Fact } from "./fact.ts";
import { initialSession, type SessionState } from "./session-state.ts";

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const question = new UserMessage("What is it?");
const answer = new AssistantMessage("", [{ toolCallId: "c", toolName: "look", arguments: {} }]);

/** Facts of one run, folded. Results are cut to three characters for the model. */
function fold(facts: readonly Fact[]): SessionState {
	let state = initialSession(AgentState.initial());
	const show = (_: string, result: unknown): unknown => String(result).slice(0, 3);
	for (const [at, fact] of facts.entries()) {
		state = evolve(state, { seq: at + 1, at: 1_000 + at, runId: "r", fact }, { show });
	}
	return state;
}

const begun: readonly Fact[] = [
	{ kind: "run.started", runKind: "user-turn", agentId: "a", fingerprint: "f" },
	{ kind: "input", inputId: question.id, placement: "turn", shape: "text", message: question },
	{
		kind: "assistant",
		step: 1,
		tag: "act",
		message: answer,
		usage,
		stopReason: "tool_calls",
		modelId: "m",
		duration: 1,
		resultsId: "results",
	},
];
const settled: Fact = {
	kind: "tool.settled",
	step: 1,
	callId: "c",
	outcome: "done",
	result: "long result",
	duration: 1,
};
const texts = (state: SessionState): readonly string[] => state.agent.messages.map((message) => message.text);
const shown = (state: SessionState): readonly string[] =>
	state.context.toArray().map((message) => message.text);

test("the history keeps a result whole, and the model sees it cut", () => {
	const state = fold([...begun, settled]);
	expect(texts(state)).toEqual(["What is it?", "", "long result"]);
	expect(shown(state)).toEqual(["What is it?", "", "lon"]);
});

test("an edited message is replaced in its place, for the caller and for the model", () => {
	const edited = new UserMessage("What was it?", { id: question.id });
	const state = fold([
		...begun,
		settled,
		{ kind: "message.updated", messageId: question.id, message: edited },
	]);
	expect(texts(state)).toEqual(["What was it?", "", "long result"]);
	expect(shown(state)).toEqual(["What was it?", "", "lon"]);
});

test("a deleted message is removed for both, and deleting an unknown one changes nothing", () => {
	const facts: Fact[] = [...begun, settled, { kind: "message.deleted", messageId: question.id }];
	expect(texts(fold(facts))).toEqual(["", "long result"]);
	expect(shown(fold(facts))).toEqual(["", "lon"]);
	expect(texts(fold([...facts, { kind: "message.deleted", messageId: "none" }]))).toEqual([
		"",
		"long result",
	]);
});

test("a waiting run is marked, and continues with the next input or resume", () => {
	const waiting: Fact[] = [
		...begun,
		{ kind: "waiting", step: 1, calls: [{ callId: "c", awaits: "result", since: 1 }] },
	];
	expect(fold(waiting).run?.status).toBe("waiting");
	const resumed: Fact = { kind: "run.resumed", attempt: 2, fingerprint: "f", reason: "crash" };
	expect(fold([...waiting, resumed]).run).toMatchObject({ status: "running", attempt: 2, unsettled: 1 });
});

test("an entry in an impossible position is rejected", () => {
	expect(() => fold([...begun, settled, settled])).toThrow(
		expect.objectContaining({ code: "journal_corrupt" }),
	);
	expect(() => fold([settled])).toThrow(expect.objectContaining({ code: "journal_corrupt" }));
});
