// Evaluation: figures of scenarios, scorers, and what got worse.

import { scriptedModel } from "@holdfast/testing";
import { agent, memoryHost } from "holdfast";
import { describe, expect, test, vi } from "vitest";
import { finish, made, use } from "../agent/agent.fixture.ts";
import { stubClient } from "../harness/index.ts";
import {
	compareReports,
	contains,
	evaluate,
	exact,
	judge,
	matchesSchema,
	readReport,
	recordedCases,
	type ScenarioReport,
	scoredBy,
} from "./index.ts";

describe("an evaluation", () => {
	test("runs each scenario the given number of times, and reports success, steps, times, errors of tools and tokens [RUN-154]", async () => {
		let runs = 0;
		const flaky = {
			id: "flaky",
			retry: { baseDelayMs: 0, maxAttempts: 2 },
			run: () => Promise.reject(Object.assign(new Error("no"), { retriable: true })),
		};
		const good = made([use("flaky"), finish], { tools: [flaky] });
		const half = made(() => (++runs % 2 === 0 ? finish : { type: "tool" as const, toolId: "" }));
		const progress: string[] = [];
		const report = await evaluate(
			[
				{ name: "good", agent: good, input: "go" },
				{ name: "half", agent: half },
			],
			{
				repetitions: 4,
				concurrency: 2,
				onRun: ({ scenario, done, of }) => progress.push(`${scenario} ${done}/${of}`),
			},
		);
		expect(report.scenarios).toMatchObject([
			{ name: "good", runs: 4, successRate: 1, meanSteps: 2, toolErrors: 2, tokens: 0, errors: [] },
			{ name: "half", runs: 4, successRate: 0.5, meanSteps: 1, toolErrors: 0 },
		]);
		expect(report.scenarios[1]?.errors.join()).toContain("PLAN_INVALID");
		for (const { p50, p95 } of report.scenarios) expect(p95).toBeGreaterThanOrEqual(p50);
		expect(progress).toHaveLength(8);
		expect(progress.at(-1)).toMatch(/8\/8$/);
		expect(JSON.parse(JSON.stringify(report))).toEqual(report);
	});

	test("reports the median and the 95th percentile of the times [RUN-154]", async () => {
		let now = 0;
		const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
		const times = [30, 10, 20, 40, 100, 60, 80, 70, 90, 50];
		const subject = () => {
			now += times.shift() ?? 0;
		};
		try {
			const report = await evaluate([{ name: "s", agent: subject }], { repetitions: 10 });
			expect(report.scenarios).toMatchObject([{ p50: 50, p95: 100 }]);
		} finally {
			clock.mockRestore();
		}
	});

	test("accepts agents of the engine and functions, and counts their tokens", async () => {
		const engine = agent({ model: scriptedModel(["Paris", "Paris"]) });
		const report = await evaluate([
			{ name: "engine", agent: engine, input: "capital?", scorers: [exact("Paris")] },
			{ name: "function", agent: (input: string) => input.toUpperCase(), input: "x", scorers: [exact("X")] },
			{ name: "throws", agent: () => Promise.reject(new Error("broken")) },
		]);
		expect(report.scenarios).toMatchObject([
			{ successRate: 1, scores: { exact: 1 }, meanSteps: 1 },
			{ successRate: 1, scores: { exact: 1 } },
			{ successRate: 0, errors: ["broken"] },
		]);
	});

	test("scores by equality, text, pattern, schema, function and a model", async () => {
		const subject = () => ({ answer: 42, unit: "m" });
		const client = stubClient(["0.5", "very good"]);
		const scorers = [
			exact({ unit: "m", answer: 42 }),
			contains("42"),
			{ ...contains(/"unit":"k?m"/g), name: "pattern" },
			matchesSchema({ type: "object", required: ["answer"] }),
			scoredBy("mine", ({ output }) => (output as { answer: number }).answer / 84),
			judge({ client, criteria: "short" }),
			judge({ client, criteria: "long", name: "unclear" }),
			scoredBy("wrong", () => 7),
		];
		const [report] = (await evaluate([{ name: "s", agent: subject, scorers }])).scenarios as [ScenarioReport];
		expect(report.scores).toEqual({
			exact: 1,
			contains: 1,
			pattern: 1,
			schema: 1,
			mine: 0.5,
			judge: 0.5,
			unclear: 0,
			wrong: 0,
		});
		expect(report.errors).toHaveLength(2);
		expect(client.prompts[0]?.messages[0]?.role).toBe("system");
		expect(client.prompts[0]?.messages[0]?.content).not.toContain("42");
	});

	test.each([
		[[], {}],
		[[{ name: "", agent: () => 1 }], {}],
		[
			[
				{ name: "a", agent: () => 1 },
				{ name: "a", agent: () => 2 },
			],
			{},
		],
		[[{ name: "a", agent: () => 1 }], { repetitions: 0 }],
		[[{ name: "a", agent: () => 1 }], { concurrency: 1.5 }],
	])("with invalid options is rejected", async (scenarios, options) => {
		await expect(evaluate(scenarios, options)).rejects.toMatchObject({ code: "EVALUATION_INVALID" });
	});
});

describe("a baseline", () => {
	const report = (more: Partial<ScenarioReport> = {}) => ({
		scenarios: [
			{
				name: "s",
				runs: 1,
				successRate: 1,
				meanSteps: 10,
				p50: 100,
				p95: 200,
				toolErrors: 0,
				tokens: 50,
				scores: { exact: 0.8 },
				errors: [],
				...more,
			},
		],
	});

	test.each([
		["successRate", { successRate: 0.89 }, { successRate: 0.9 }],
		["meanSteps", { meanSteps: 11.1 }, { meanSteps: 11 }],
		["p50", { p50: 111 }, { p50: 110 }],
		["p95", { p95: 221 }, { p95: 219 }],
		["toolErrors", { toolErrors: 0.1 }, { toolErrors: 0 }],
		["tokens", { tokens: 56 }, { tokens: 55 }],
		["scores.exact", { scores: { exact: 0.7 } }, { scores: { exact: 0.73 } }],
	] as const)(
		"names scenario and figure if %s is worse beyond the tolerance [RUN-155]",
		(metric, worse, within) => {
			expect(compareReports(report(worse), report())).toMatchObject([{ scenario: "s", metric }]);
			expect(compareReports(report(within), report())).toEqual([]);
			if (metric !== "toolErrors")
				expect(compareReports(report(worse), report(), { all: 0, of: { [metric]: 100 } })).toEqual([]);
		},
	);

	test("accepts improvements, and reports a missing scenario [RUN-155]", () => {
		const better = { successRate: 1, meanSteps: 1, p50: 1, p95: 1, tokens: 1, scores: { exact: 1 } };
		expect(compareReports(report(better), report())).toEqual([]);
		expect(compareReports(report({ name: "other" }), report())).toMatchObject([
			{ scenario: "s", metric: "missing" },
		]);
	});

	test("that cannot be read is rejected", () => {
		expect(readReport(JSON.stringify(report()))).toEqual(report());
		for (const text of ["", "{}", "[]", '{"scenarios":[{}]}', '{"scenarios":[{"name":"s"}]}'])
			expect(() => readReport(text)).toThrow(expect.objectContaining({ code: "BASELINE_INVALID" }));
	});
});

test("cases are taken from the completed turns of a recorded session", async () => {
	const host = memoryHost();
	const session = agent({ model: scriptedModel(["one", { error: new Error("no") }, "three"]), host }).session(
		"s",
	);
	for (const text of ["1?", "2?", "3?"]) await (await session.send(text)).result();
	expect(await recordedCases(host, "s")).toEqual([
		{ input: "1?", output: "one" },
		{ input: "3?", output: "three" },
	]);
});
