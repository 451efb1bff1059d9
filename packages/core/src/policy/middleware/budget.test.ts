import { scriptedModel } from "@holdfast/testing";
import type { TokenUsage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { agent } from "../../agent/agent.ts";
import { AgentState } from "../../state/agent-state.ts";
import { aroundRun } from "../around-run.ts";
import { budget } from "./budget.ts";
import { contextOf, resultOf } from "./middleware-face.fixture.ts";

const usage: TokenUsage = { inputTokens: 600, outputTokens: 400, totalTokens: 1000 };

function clockOf(...times: number[]): { monotonic(): number } {
	return { monotonic: () => times.shift() ?? 0 };
}

/** The state after a call that used a thousand tokens. */
async function afterCall(
	middleware: ReturnType<typeof budget>,
	state: AgentState = AgentState.initial(),
	call: Partial<Parameters<typeof contextOf>[1]> = {},
): Promise<AgentState> {
	const execute = async () => resultOf("done", state, usage);
	return (await aroundRun([middleware], contextOf([], { state, ...call }), execute)).state;
}

describe("a budget", () => {
	test("does not start a call after earlier calls have used up the tokens", async () => {
		const middleware = budget({ maxTokens: 2000 });
		const once = await afterCall(middleware);
		const twice = await afterCall(middleware, once);
		expect(twice.metadata.budget).toMatchObject({ tokens: 2000 });
		await expect(afterCall(middleware, twice)).rejects.toMatchObject({
			code: "budget_exceeded",
			retryable: false,
			message: expect.stringContaining("2000 of 2000 tokens. Raise `maxTokens`"),
			data: { limit: "maxTokens", used: 2000, allowed: 2000 },
		});
		expect(once.metadata.budget).toMatchObject({ tokens: 1000 });
		const branch = await afterCall(middleware, once);
		expect(branch.metadata.budget).toMatchObject({ tokens: 2000 });
	});

	test("counts the last call of a state it has not seen before, and continues after JSON", async () => {
		const { state } = await agent({ model: scriptedModel(["one", "two"]) }).generate("first");
		expect(state.usage?.totalTokens).toBe(15);
		await expect(afterCall(budget({ maxTokens: 15 }), state)).rejects.toMatchObject({
			code: "budget_exceeded",
		});
		const counted = await afterCall(budget({ maxTokens: 16 }), state);
		const restored = AgentState.fromJSON(JSON.parse(JSON.stringify(counted)));
		await expect(afterCall(budget({ maxTokens: 1015 }), restored)).rejects.toMatchObject({
			data: { used: 1015 },
		});
	});

	test("ends a call after the step that reaches its limit, according to the state", async () => {
		const calls = { toolCalls: [{ name: "look" }] };
		const look = { name: "look", description: "Looks.", parameters: { type: "object" }, run: () => "seen" };
		const model = scriptedModel([calls, calls, calls, calls, "enough"]);
		const clerk = agent({ model, tools: [look], middleware: [budget({ maxTokens: 40 })] });
		const { turn, state } = await clerk.generate("look three times");
		expect(turn.cycles).toBe(3);
		expect(state.metadata.budget).toMatchObject({ tokens: 45, exceeded: "maxTokens" });
		await expect(clerk.generate("again", state)).rejects.toMatchObject({ code: "budget_exceeded" });
		expect(model.requests).toHaveLength(3);
	});

	test("computes the cost of tokens from its own prices, or from the agent's prices for its model", async () => {
		const price = { input: 1000, output: 2000 };
		const state = await afterCall(budget({ maxCost: 1.4, price }));
		expect(state.metadata.budget).toMatchObject({ tokens: 1000, cost: 1.4 });
		await expect(afterCall(budget({ maxCost: 1.4, price }), state)).rejects.toMatchObject({
			data: { limit: "maxCost", used: 1.4 },
		});
		const model = scriptedModel(["one", "two"], { modelId: "large" });
		const clerk = agent({ model, prices: { large: price }, middleware: [budget({ maxCost: 0.02 })] });
		const first = await clerk.generate("first");
		expect(first.state.metadata.budget).toMatchObject({ cost: 0.02 });
		await expect(clerk.generate("second", first.state)).rejects.toMatchObject({ code: "budget_exceeded" });
	});

	test("rejects a cost limit if the price is unknown", async () => {
		await expect(afterCall(budget({ maxCost: 1 }))).rejects.toMatchObject({ code: "invalid_option" });
		const state = await afterCall(budget({ maxTokens: 5000 }));
		expect(state.metadata.budget).not.toHaveProperty("cost");
	});

	test("counts working time", async () => {
		const middleware = budget({ maxDuration: 100, clock: clockOf(1000, 1060, 5000, 5060, 9000) });
		const once = await afterCall(middleware);
		expect(once.metadata.budget).toMatchObject({ duration: 60 });
		const twice = await afterCall(middleware, once);
		await expect(afterCall(middleware, twice)).rejects.toMatchObject({
			data: { limit: "maxDuration", used: 120, allowed: 100 },
		});
	});

	test("per call lets every call start, and still ends it", async () => {
		const middleware = budget({
			maxDuration: 100,
			scope: "call",
			clock: clockOf(0, 70, 130, 150, 1000, 1010),
		});
		const context = contextOf();
		await middleware.before?.(context);
		expect(await middleware.stop?.(context, context.state)).toBe(false);
		expect(await middleware.stop?.(context, context.state)).toBe(true);
		const { state } = (await middleware.after?.(context, resultOf("done"))) ?? {};
		expect(state?.metadata.budget).toMatchObject({ duration: 150, exceeded: "maxDuration" });
		expect((await afterCall(middleware, state)).metadata.budget).toMatchObject({ duration: 160 });
	});

	test("requires a numeric limit", () => {
		expect(() => budget({})).toThrow(expect.objectContaining({ code: "invalid_option" }));
		expect(() => budget({ maxTokens: Number.NaN })).toThrow(/maxTokens/);
	});
});
