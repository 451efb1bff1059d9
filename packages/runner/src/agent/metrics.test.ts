// Figures over all runs of an agent.
import { expect, test } from "vitest";
import type { AgentConfig, RunnerTool } from "../contract/index.ts";
import { stubClient } from "../harness/index.ts";
import { finish, made, use } from "./agent.fixture.ts";
import type { Metrics } from "./metrics.ts";

test("no metrics before the first run; after each run they are in metrics() and in the event [RUN-151]", async () => {
	const agent = made(({ task, step }) => (task === "fail" || step < 3 ? { type: "internal" } : finish), {
		maxSteps: 5,
	});
	const heard: Metrics[] = [];
	agent.on("metrics", (figures) => heard.push(figures as Metrics));
	expect(agent.metrics()).toMatchObject({ runs: 0, taskSuccessRate: null, meanSteps: null });
	await agent.runOnce();
	await agent.runOnce({ task: "fail" });
	expect(heard).toMatchObject([
		{ taskSuccessRate: 1, meanSteps: 3 },
		{ taskSuccessRate: 0.5, meanSteps: 4 },
	]);
	expect(agent.metrics()).toEqual(heard[1]);
});

test("tools have counts, error rates over attempts, and latencies [RUN-152]", async () => {
	let [now, calls] = [0, 0];
	const clock = { now: () => now, monotonic: () => now };
	const flaky: RunnerTool = {
		id: "flaky",
		retry: { baseDelayMs: 0 },
		run: () => {
			calls++;
			now += calls;
			if (calls % 2 === 1) throw Object.assign(new Error("again"), { retriable: true });
			return 1;
		},
	};
	const agent = made([use("flaky"), use("flaky"), finish], { tools: [flaky], ports: { clock } });
	await agent.runOnce();
	expect(agent.metrics().tools).toEqual({ flaky: { calls: 4, errorRate: 0.5, p50: 3, p95: 7 } });
	await agent.runOnce();
	expect(agent.metrics().tools.flaky).toEqual({ calls: 8, errorRate: 0.5, p50: 7, p95: 15 });
	const broken: RunnerTool = { ...flaky, id: "broken", run: () => Promise.reject(new Error("no")) };
	const failing = made([use("broken"), finish], { tools: [broken] });
	await failing.runOnce();
	expect(failing.metrics().tools.broken).toMatchObject({ calls: 1, errorRate: 1 });
});

test("models have tokens and cost; a run without a price is counted as such [RUN-153]", async () => {
	const usage = { inputTokens: 1_000_000, outputTokens: 500_000 };
	const client = stubClient(["a", "b", "c", "d"], { usage, info: { name: "m" } });
	const planner: AgentConfig["planner"] = {
		plan: (_, { callModel }) => callModel({ messages: [] }).then(() => finish),
	};
	const twice: typeof planner = {
		async plan(_, { callModel }) {
			for (let calls = 0; calls < 2; calls++) await callModel({ messages: [] });
			return finish;
		},
	};
	const priced = made([], {
		planner: planner as NonNullable<typeof planner>,
		modelProviders: [{ id: "p", client, price: { input: 2, output: 4 } }],
	});
	await priced.runOnce();
	await priced.runOnce();
	expect(priced.metrics()).toMatchObject({
		models: { m: { inputTokens: 2_000_000, outputTokens: 1_000_000, cost: 8 } },
		unpricedRuns: 0,
	});
	const unpriced = made([], {
		planner: twice,
		modelProviders: [{ id: "p", client }],
	});
	await unpriced.runOnce();
	expect(unpriced.metrics()).toMatchObject({
		models: { m: { inputTokens: 2_000_000, cost: 0 } },
		unpricedRuns: 1,
	});
});
