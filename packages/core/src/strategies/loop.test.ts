import { scriptedModel } from "@holdfast/testing";
import { ToolResultMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { anyTool, lines } from "../agent/agent.fixture.ts";
import { agent } from "../agent/agent.ts";
import { AgentState } from "../state/agent-state.ts";
import { loop } from "./loop.ts";

const initial = AgentState.initial();
const echo = anyTool("echo", ({ text }) => text ?? "echoed");

describe("loop()", () => {
	test("makes one model call if no tool is requested, and step is 1 [UAP-029]", async () => {
		const model = scriptedModel(["hello"]);
		const { turn, state } = await agent({ model, tools: [echo], execution: loop() }).generate("go", initial);
		expect(model.requests).toHaveLength(1);
		expect(state.step).toBe(1);
		expect(turn.response.text).toBe("hello");
	});

	test("returns results to the model until an answer requests no tools [UAP-029]", async () => {
		const model = scriptedModel((request) => {
			const last = request.messages.at(-1);
			if (!(last instanceof ToolResultMessage))
				return { toolCalls: [{ name: "echo", arguments: { text: "1" } }] };
			const seen = Number(last.results[0]?.result);
			if (seen === 3) return "three";
			return { toolCalls: [{ name: "echo", arguments: { text: String(seen + 1) } }] };
		});
		const { turn, state } = await agent({ model, tools: [echo], execution: loop() }).generate("go", initial);
		expect(model.requests).toHaveLength(4);
		expect(state.step).toBe(4);
		expect(turn.response.text).toBe("three");
	});

	test("returns a turn with all rounds in order and the last answer as its response [UAP-030]", async () => {
		const model = scriptedModel([
			{
				text: "one",
				toolCalls: [
					{ name: "echo", arguments: { text: "a" } },
					{ name: "echo", arguments: { text: "b" } },
				],
			},
			{ text: "two", toolCalls: [{ name: "echo", arguments: { text: "c" } }] },
			"three",
		]);
		const before = initial.withMessages(
			(await agent({ model: scriptedModel(["past"]) }).generate("x", initial)).state.messages,
		);
		const { turn, state } = await agent({ model, tools: [echo] }).generate("go", before);
		expect(lines(turn.messages)).toEqual([
			"user: go",
			"assistant: one [echo, echo]",
			"results: a, b",
			"assistant: two [echo]",
			"results: c",
			"assistant: three",
		]);
		expect(turn.toolExecutions.map((each) => each.result)).toEqual(["a", "b", "c"]);
		expect(turn.response).toBe(state.messages.at(-1));
		expect(turn.cycles).toBe(3);
	});

	test.each([1, 3, 12])(
		"with maxIterations %i runs that many rounds of tools and then returns [UAP-031]",
		async (n) => {
			const ran: unknown[] = [];
			const model = scriptedModel(() => ({ toolCalls: [{ name: "count" }] }));
			const count = anyTool("count", () => ran.push(1));
			const one = agent({ model, tools: [count], execution: loop({ maxIterations: n }) });
			const { turn, state } = await one.generate("go", initial);
			expect(ran).toHaveLength(n);
			expect(turn.toolExecutions).toHaveLength(n);
			expect(state.step).toBe(n);
			expect(state.messages.at(-1)).toBeInstanceOf(ToolResultMessage);
		},
	);
});
