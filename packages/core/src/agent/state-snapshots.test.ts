import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { AgentState } from "../state/agent-state.ts";
import type { ExecutionStrategy } from "../strategies/execution-strategy.ts";
import { loop } from "../strategies/loop.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import { anyTool } from "./agent.fixture.ts";
import { agent } from "./agent.ts";

const round: ScriptedReply = { text: "Let me see.", toolCalls: [{ name: "look" }] };
const steps = [
	{ id: "a", description: "Do a." },
	{ id: "b", description: "Do b.", dependsOn: ["a"] },
];
const planned: ScriptedReply = { data: { steps }, text: JSON.stringify({ steps }) };
const strategies: Record<string, [ExecutionStrategy, (string | ScriptedReply)[]]> = {
	"loop()": [loop(), [round, round, "done"]],
	"react()": [react(), ["One.", round, "Two.", "done"]],
	"plan()": [plan(), [planned, round, "a is done", "b is done"]],
};

describe("a state never changes after it was read", () => {
	test.each(Object.entries(strategies))(
		"in every hook of %s and after later calls [UAP-069]",
		async (_, [execution, script]) => {
			const seen: { where: string; state: AgentState; was: string }[] = [];
			const see = (where: string, state: AgentState): void =>
				void seen.push({ where, state, was: JSON.stringify(state.toJSON()) });
			const one = agent({
				model: scriptedModel([...script, ...script]),
				tools: [anyTool("look", () => ({ seen: true }))],
				execution,
				strategy: {
					onStepStart: (step, state) => see(`start ${step}`, state),
					onStepEnd: (step, { state }) => see(`end ${step}`, state),
					stopCondition: (state) => {
						see(`stop ${state.step}`, state);
						return false;
					},
				},
			});
			const s0 = AgentState.initial().withMetadata("deep", { list: [1] });
			see("given", s0);
			const first = await one.generate("go", s0);
			see("result", first.state);
			const second = await one.stream("again", first.state).result;
			see("second result", second.state);
			expect(seen.length).toBeGreaterThan(8);
			for (const { where, state, was } of seen) expect(JSON.stringify(state.toJSON()), where).toBe(was);
			const statuses = seen.flatMap(({ state }) =>
				state.plan === undefined ? [] : [state.plan.map(({ status }) => status).join()],
			);
			if (execution.name === "plan") expect(new Set(statuses).size).toBeGreaterThanOrEqual(3);
			expect(new Set(seen.map(({ state }) => state.id)).size).toBeGreaterThan(4);
		},
	);
});
