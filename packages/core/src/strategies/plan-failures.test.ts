// Failing plans: plans that cannot be executed, steps that fail, and replanning.

import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import type { LLMRequest } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { anyTool, collect, lines } from "../agent/agent.fixture.ts";
import { type Agent, agent } from "../agent/agent.ts";
import { AgentState } from "../state/agent-state.ts";
import { planOf, statuses } from "./plan.fixture.ts";
import { type PlanOptions, plan } from "./plan.ts";

const initial = AgentState.initial();
const tools = [anyTool("work", () => "worked"), anyTool("fail", () => Promise.reject(new Error("no luck")))];
const work: ScriptedReply = { toolCalls: [{ name: "work" }] };
const fail: ScriptedReply = { toolCalls: [{ name: "fail" }] };
const down: ScriptedReply = { error: new Error("the model is down") };
const asks = ({ messages }: LLMRequest | Pick<LLMRequest, "messages">) => lines(messages).at(-1);

function made(
	script: readonly (string | ScriptedReply)[],
	options?: PlanOptions,
): { one: Agent; model: ReturnType<typeof scriptedModel> } {
	const model = scriptedModel(script);
	return { one: agent({ model, tools, execution: plan(options) }), model };
}

describe("a plan that cannot be carried out", () => {
	const cyclic = planOf({ id: "ok" }, { id: "a", dependsOn: ["b"] }, { id: "b", dependsOn: ["a"] });

	test.each([
		["of steps that wait for each other", cyclic, /a, b/],
		["of a step that waits for itself", planOf({ id: "ok" }, { id: "me", dependsOn: ["me"] }), /me/],
	])("%s is rejected by name, and nothing of it runs [UAP-050]", async (_, reply, names) => {
		const { one, model } = made([reply, work, work, "never"]);
		const expected = expect.objectContaining({ code: "plan_invalid", message: expect.stringMatching(names) });
		await expect(one.generate("go", initial)).rejects.toEqual(expected);
		expect(model.requests).toHaveLength(1);
		const stream = made([reply, work]).one.stream("go", initial);
		await expect(collect(stream)).rejects.toEqual(expected);
		await expect(stream.result).rejects.toEqual(expected);
	});

	test.each([
		["with an unknown id", planOf({ id: "a", dependsOn: ["gone"] }), /"a" depends on "gone"/],
		["with an id used twice", planOf({ id: "a" }, { id: "a" }), /"a" is used twice/],
		["that is no JSON", "I would rather not.", /not JSON/],
		["without steps", { data: { plan: [] } }, /no list of steps/],
		["with a step that is no object", { data: { steps: ["a"] } }, /steps\[0\] is not an object/],
		["with a step without an id", { data: { steps: [{ description: "x" }] } }, /steps\[0\]\.id/],
		["with a step that says nothing", { data: { steps: [{ id: "a" }] } }, /steps\[0\]\.description/],
		[
			"with dependencies that are no list",
			{ data: { steps: [{ id: "a", description: "", dependsOn: "b" }] } },
			/dependsOn/,
		],
		[
			"with a tool that there is not",
			planOf({ id: "a", tool: "gone" }),
			/"a" names the tool "gone".* work, fail\./,
		],
		["with a tool that is no name", { data: { steps: [{ id: "a", description: "", tool: 3 }] } }, /\.tool/],
	])("%s is reported, and nothing of it runs [UAP-051]", async (_, reply, why) => {
		const { one, model } = made([reply, work]);
		const expected = expect.objectContaining({ code: "plan_invalid", message: expect.stringMatching(why) });
		await expect(one.generate("go", initial)).rejects.toEqual(expected);
		expect(model.requests).toHaveLength(1);
	});

	test.each([
		["a bare list", JSON.stringify([{ id: "a", description: "" }])],
		[
			"JSON in a fence",
			'Here it is:\n```json\n{"steps":[{"id":"a","description":"","tool":null,"dependsOn":null}]}\n```',
		],
		["JSON after prose", 'Sure, here is my plan: {"steps":[{"id":"a","description":"Say \\"}\\" [once]."}]}'],
		[
			"JSON between sentences",
			'I thought [about it].\n{"steps":[{"id":"a","description":""}]}\nShall I begin?',
		],
		["a bare list after prose", 'Steps [draft 1]: [{"id":"a","description":"x"}] as asked.'],
		["JSON after a bracket that is never closed", 'First (see [1: {"steps":[{"id":"a","description":"x"}]}'],
		[
			"JSON in the second of two fences",
			'```sh\nls\n```\n```\n{"steps":[{"id":"a","description":"x"}]}\n```',
		],
		[
			"JSON in a fence without a language, after prose",
			'So:\n```\n[{"id":"a","description":"x"}]\n```\nDone.',
		],
	])("%s is a plan", async (_, reply) => {
		const { state } = await made([reply, "a"]).one.generate("go", initial);
		expect(statuses(state.plan)).toEqual(["a: completed"]);
	});
});

test("an answer of endless brackets is read in linear time", async () => {
	for (const text of ["[".repeat(200_000), '{"'.repeat(100_000), `${"[1]".repeat(60_000)}{`]) {
		const start = performance.now();
		await expect(made([text]).one.generate("go", initial)).rejects.toMatchObject({ code: "plan_invalid" });
		expect(performance.now() - start).toBeLessThan(5_000);
	}
});

describe("a step fails", () => {
	const cases: [string, ReturnType<typeof planOf>, (string | ScriptedReply)[]][] = [
		["when its model call fails", planOf({ id: "a" }), [down]],
		["when a later model call of it fails", planOf({ id: "a" }), [work, down]],
		["when the last call of the tool it names failed", planOf({ id: "a", tool: "fail" }), [work, fail, "no"]],
		["when it names no tool and none of its calls succeeded", planOf({ id: "a" }), [fail, "no"]],
		[
			"when it never called the tool it names and others failed",
			planOf({ id: "a", tool: "work" }),
			[fail, "no"],
		],
	];
	test.each(cases)(
		"%s, and a new plan that includes the failure is created and executed [UAP-047]",
		async (_, first, replies) => {
			const seen: unknown[] = [];
			const model = scriptedModel([first, ...replies, planOf({ id: "other" }), "done"]);
			const strategy = {
				onStepEnd: (_step: number, { state }: { state: AgentState }) => void seen.push(statuses(state.plan)),
			};
			const { turn, state } = await agent({ model, tools, execution: plan(), strategy }).generate(
				"go",
				initial,
			);
			expect(seen).toEqual([["a: failed"], ["other: completed"]]);
			expect(statuses(state.plan)).toEqual(["other: completed"]);
			expect(turn.response.text).toBe("done");
			const again = model.requests[1 + replies.length] as LLMRequest;
			expect(again.structure).toEqual(model.requests[0]?.structure);
			expect(asks(again)).toMatch(/"a" of the plan failed/);
		},
	);

	test.each([
		[
			"the tool it names succeeds in the end",
			planOf({ id: "a", tool: "fail" }),
			[{ toolCalls: [{ name: "fail" }] }, "yes"],
			() => "luck",
		],
		["it names no tool and one of its calls succeeded", planOf({ id: "a" }), [work, fail, "well"], undefined],
		[
			"the tool it names worked, whatever others did",
			planOf({ id: "a", tool: "work" }),
			[work, fail, "well"],
			undefined,
		],
		["it called nothing", planOf({ id: "a", tool: "work" }), ["I knew it"], undefined],
	])("but not when %s", async (_, first, replies, luck) => {
		const lucky = luck === undefined ? tools : [anyTool("fail", luck)];
		const one = agent({ model: scriptedModel([first, ...replies]), tools: lucky, execution: plan() });
		expect(statuses((await one.generate("go", initial)).state.plan)).toEqual(["a: completed"]);
	});

	test("and completed steps stay: new steps may depend on them, and they do not run again", async () => {
		const { one, model } = made([
			planOf({ id: "a" }, { id: "b", tool: "fail", dependsOn: ["a"] }, { id: "c", dependsOn: ["b"] }),
			"a is done",
			fail,
			"b failed",
			planOf({ id: "c", dependsOn: ["b2"] }, { id: "b2", dependsOn: ["a"] }),
			"b2 is done",
			"c is done",
		]);
		const { state } = await one.generate("go", initial);
		expect(statuses(state.plan)).toEqual(["a: completed", "b2: completed", "c: completed"]);
		expect(asks(model.requests[4] as LLMRequest)).toContain('Completed so far: "a"');
	});

	test("and a step that is planned again runs again", async () => {
		const same = planOf({ id: "a" }, { id: "b", tool: "fail", dependsOn: ["a"] });
		const { one } = made([same, "a", fail, "no", same, "a again", "b without its tool"]);
		const { state, turn } = await one.generate("go", initial);
		expect(statuses(state.plan)).toEqual(["a: completed", "b: completed"]);
		expect(turn.response.text).toBe("b without its tool");
	});

	test("with allowReplan false: no second plan, nothing after it runs, and the call fails [UAP-048]", async () => {
		const first = planOf({ id: "b", dependsOn: ["a"] }, { id: "a", tool: "fail" });
		const seen: unknown[] = [];
		const model = scriptedModel([first, fail, "no", planOf({ id: "c" }), "never"]);
		const one = agent({
			model,
			tools,
			execution: plan({ allowReplan: false }),
			strategy: {
				onError: (error, state) => void seen.push((error as { code: string }).code, statuses(state.plan)),
				onComplete: () => void seen.push("complete"),
			},
		});
		const expected = expect.objectContaining({ code: "plan_step_failed", data: { id: "a" } });
		await expect(one.generate("go", initial)).rejects.toEqual(expected);
		expect(seen).toEqual(["plan_step_failed", ["a: failed", "b: pending"]]);
		expect(model.requests).toHaveLength(3);
	});

	test.each([
		[
			fail,
			'Step "a" of the plan failed: Try it. The tool "fail" said: no luck. Steps that depend on it did not run.',
		],
		[down, 'Step "a" of the plan failed: Try it. Steps that depend on it did not run.'],
	])(
		"and the error describes in sentences which step failed, and its tool's error",
		async (reply, message) => {
			const first = planOf({ id: "a", description: "Try it", tool: "fail" });
			const { one } = made([first, reply, "no"], { allowReplan: false });
			await expect(one.generate("go", initial)).rejects.toThrow(expect.objectContaining({ message }));
		},
	);

	test("in the planning call itself, the call fails with the provider's error", async () => {
		await expect(made([down]).one.generate("go", initial)).rejects.toBe(down.error);
		const replanning = made([planOf({ id: "a" }), down, down]);
		await expect(replanning.one.generate("go", initial)).rejects.toBe(down.error);
	});
});
