// A run that passes a hundred steps without a limit causes one warning.
import { scriptedModel } from "@holdfast/testing";
import type { HoldfastError } from "@holdfast/upp";
import { expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { memoryHost } from "../host/memory-host.ts";
import { loop } from "../strategies/loop.ts";
import { react } from "../strategies/react.ts";

/** An agent whose runs take this number of steps. */
function working(steps: number, options: Partial<AgentOptions> = {}) {
	const warnings: HoldfastError[] = [];
	const model = scriptedModel(({ messages }) => {
		const asked = messages.findLastIndex(({ type }) => type === "user");
		const rounds = messages.slice(asked).filter(({ type }) => type === "tool_result").length;
		return rounds + 1 < steps ? { toolCalls: [{ name: "look" }] } : "done";
	});
	const agent = new Agent({
		model,
		tools: [anyTool("look", () => "seen", { retryPolicy: "pure" })],
		onWarning: (warning) => warnings.push(warning),
		...options,
	});
	return { agent, warnings };
}

test("a call with 100 steps is not reported, one with more is reported once", async () => {
	for (const [steps, count] of [
		[100, 0],
		[250, 1],
	] as const) {
		const { agent, warnings } = working(steps);
		const { state } = await agent.generate("go");
		expect(state.step).toBe(steps);
		expect(warnings.map(({ code, data }) => [code, data?.steps])).toEqual(
			Array.from({ length: count }, () => ["many_steps", 100]),
		);
	}
});

test("a run of a session is reported once, even if it is resumed after that", async () => {
	const host = memoryHost();
	const { agent, warnings } = working(150, { host });
	const run = await agent.session("s").send("go");
	for await (const event of run.watch()) if (event.type === "step_start" && event.step === 120) run.suspend();
	expect((await run.result()).outcome).toBe("suspended");
	expect(warnings).toMatchObject([{ code: "many_steps", data: { sessionKey: "s", runId: run.runId } }]);
	const next = working(150, { host });
	expect((await (await next.agent.session("s").resume())?.result())?.outcome).toBe("completed");
	expect(next.warnings).toEqual([]);
});

test.each([
	["`maxSteps`", { maxSteps: 1_000 }],
	["`maxSteps: Infinity`", { maxSteps: Number.POSITIVE_INFINITY }],
	["a limit of loop()", { execution: loop({ maxIterations: 1_000 }) }],
	["a limit of react()", { execution: react({ maxSteps: 1_000 }) }],
])("%s silences it", async (_, options) => {
	const { agent, warnings } = working(120, options);
	expect((await agent.generate("go")).state.step).toBeGreaterThan(100);
	expect(warnings).toEqual([]);
});
