import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import type { LLMRequest } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { anyTool, collect, dataOf, lines } from "../agent/agent.fixture.ts";
import { agent } from "../agent/agent.ts";
import type { AgentStrategy } from "../engine/engine-agent.ts";
import { AgentState } from "../state/agent-state.ts";
import type { PlanStep } from "../state/plan-step.ts";
import { planOf, statuses } from "./plan.fixture.ts";
import { plan } from "./plan.ts";

const initial = AgentState.initial();
const work: ScriptedReply = { toolCalls: [{ name: "work" }] };
const tools = [anyTool("work", () => "worked"), anyTool("fail", () => Promise.reject(new Error("no luck")))];
const carriedOut = (requests: readonly LLMRequest[]): string[] =>
	requests.flatMap(
		({ messages }) => /^user: Carry out step "(.*?)"/.exec(lines(messages).at(-1) ?? "")?.[1] ?? [],
	);

describe("plan()", () => {
	test("requests a structured plan once and keeps its steps in the state [UAP-043]", async () => {
		const made = planOf({ id: "a", tool: "work" }, { id: "b", dependsOn: ["a"] });
		const model = scriptedModel([made, "a", "b"]);
		const { state } = await agent({ model, tools, execution: plan() }).generate("go", initial);
		const asked = model.requests.map((request) => request.structure);
		expect(asked.slice(1)).toEqual([undefined, undefined]);
		const fields = { id: {}, description: {}, tool: {}, dependsOn: {} };
		expect(asked[0]).toMatchObject({
			properties: { steps: { type: "array", items: { properties: fields } } },
		});
		expect(state.plan).toEqual([
			{ id: "a", description: "Do a.", tool: "work", dependsOn: [], status: "completed" },
			{ id: "b", description: "Do b.", dependsOn: ["a"], status: "completed" },
		]);
	});

	test("names the tools in the planning request, which offers none", async () => {
		const model = scriptedModel([planOf({ id: "a" }), "done"]);
		await agent({ model, tools, execution: plan() }).generate("go", initial);
		const [planning, acting] = model.requests;
		expect(planning?.tools).toEqual([]);
		expect(lines(planning?.messages ?? []).at(-1)).toContain("- work: Does work.");
		expect(acting?.tools?.map((tool) => tool.name)).toEqual(["work", "fail"]);
	});

	test("sends the given schema instead of its own [UAP-044]", async () => {
		const planSchema = { type: "object", properties: { steps: { type: "array" } }, title: "Mine" } as const;
		const model = scriptedModel([planOf({ id: "a" }), "done"]);
		await agent({ model, execution: plan({ planSchema }) }).generate("go", initial);
		expect(model.requests[0]?.structure).toEqual(planSchema);
	});

	test("runs each step after all its dependencies, otherwise as listed [UAP-045]", async () => {
		const made = planOf(
			{ id: "d", dependsOn: ["b", "c"] },
			{ id: "b", dependsOn: ["a"] },
			{ id: "x" },
			{ id: "c", dependsOn: ["a"] },
			{ id: "a" },
		);
		const model = scriptedModel([made, work, "x", "a", "b", "c", "d"]);
		await agent({ model, tools, execution: plan() }).generate("go", initial);
		expect(carriedOut(model.requests)).toEqual(["x", "x", "a", "b", "c", "d"]);
	});

	test("shows a step pending, in progress while it works, then completed, in hooks and events [UAP-046]", async () => {
		const seen: unknown[] = [];
		const see = (where: string) => (_: number, it: AgentState | { state: AgentState }) =>
			void seen.push([where, statuses("state" in it ? it.state.plan : it.plan)]);
		const strategy: AgentStrategy = { onStepStart: see("start"), onStepEnd: see("end") };
		const model = scriptedModel([planOf({ id: "a" }, { id: "b" }), work, "a", "b"]);
		const stream = agent({ model, tools, execution: plan(), strategy }).stream("go", initial);
		const events = await collect(stream);
		const started = [
			["a: in_progress", "b: pending"],
			["a: completed", "b: in_progress"],
		];
		const ended = [
			["a: completed", "b: pending"],
			["a: completed", "b: completed"],
		];
		expect(seen).toEqual([
			["start", started[0]],
			["end", ended[0]],
			["start", started[1]],
			["end", ended[1]],
		]);
		const emitted = (type: "step_start" | "step_end") =>
			dataOf(events, type).map((data) => statuses((data as { plan: PlanStep[] }).plan));
		expect(emitted("step_start")).toEqual(started);
		expect(emitted("step_end")).toEqual(ended);
		expect(statuses((await stream.result).state.plan)).toEqual(ended[1]);
	});

	test("emits the start, action, observation and end of each step, even if one fails and the plan is created again", async () => {
		const fail: ScriptedReply = { toolCalls: [{ name: "fail" }] };
		const made = [planOf({ id: "a", tool: "work" }, { id: "b", tool: "fail" }), planOf({ id: "c" })] as const;
		const model = scriptedModel([made[0], work, "a", fail, "b", made[1], "c"]);
		const stream = agent({ model, tools, execution: plan() }).stream("go", initial);
		const emitted = (await collect(stream)).flatMap(({ source, uap }) => {
			if (source !== "uap") return [];
			const { plan: shown } = uap.data as { plan?: readonly PlanStep[] };
			return [[uap.type, uap.step, ...(shown === undefined ? [] : [statuses(shown).join(", ")])].join(" ")];
		});
		expect(emitted).toEqual([
			"step_start 1 a: in_progress, b: pending",
			"action 1",
			"observation 1",
			"step_end 1 a: completed, b: pending",
			"step_start 2 a: completed, b: in_progress",
			"action 2",
			"observation 2",
			"step_end 2 a: completed, b: failed",
			"step_start 3 a: completed, c: in_progress",
			"step_end 3 a: completed, c: completed",
		]);
	});

	test("calls onStepStart and onStepEnd around each step; stopCondition leaves the rest pending [UAP-052]", async () => {
		const log: unknown[] = [];
		const strategy: AgentStrategy = {
			onStepStart: (step) => void log.push(["start", step]),
			onStepEnd: (step) => void log.push(["end", step]),
			stopCondition(state) {
				log.push(["stop?", state.step]);
				return state.plan?.[1]?.status === "completed";
			},
		};
		const model = scriptedModel([planOf({ id: "a" }, { id: "b" }, { id: "c" }), "a", work, "b"]);
		const { state } = await agent({ model, tools, execution: plan(), strategy }).generate("go", initial);
		const frame = (step: number) => [
			["start", step],
			["end", step],
			["stop?", step],
		];
		expect(log).toEqual([...frame(1), ...frame(2)]);
		expect(statuses(state.plan)).toEqual(["a: completed", "b: completed", "c: pending"]);
	});

	test("keeps at most maxPlanSteps steps, none of which depends on a dropped one [UAP-049]", async () => {
		const made = planOf(
			{ id: "d", dependsOn: ["c"] },
			{ id: "c", dependsOn: ["a"] },
			{ id: "a" },
			{ id: "b" },
		);
		const model = scriptedModel([made, "a", "c"]);
		const { state } = await agent({ model, execution: plan({ maxPlanSteps: 2 }) }).generate("go", initial);
		expect(state.plan).toHaveLength(2);
		expect(carriedOut(model.requests)).toEqual(statuses(state.plan).map((each) => each.split(":")[0]));
		const kept = new Set(state.plan?.map((step) => step.id));
		for (const step of state.plan ?? []) expect(step.dependsOn.every((id) => kept.has(id))).toBe(true);
	});

	test("finishes 60 steps in one plan without a limit of its own [UAP-007]", async () => {
		const made = planOf(...Array.from({ length: 60 }, (_, at) => ({ id: `s${at}` })));
		const model = scriptedModel((_, number) => (number === 0 ? made : number % 2 === 1 ? work : "ok"));
		const { turn, state } = await agent({ model, tools, execution: plan() }).generate("go", initial);
		expect(state.step).toBe(60);
		expect(turn.toolExecutions).toHaveLength(60);
		expect(state.plan?.every((step) => step.status === "completed")).toBe(true);
	});

	test("with an empty list of steps has nothing to do", async () => {
		const { state } = await agent({ model: scriptedModel([planOf()]), execution: plan() }).generate(
			"go",
			initial,
		);
		expect([state.plan, state.step]).toEqual([[], 0]);
	});

	test("creates a new plan in the next call; the old one is neither continued nor kept", async () => {
		const model = scriptedModel([planOf({ id: "a" }, { id: "b" }), "a", planOf({ id: "c" }), "c"]);
		const strategy: AgentStrategy = { stopCondition: () => true };
		const one = agent({ model, execution: plan(), strategy });
		const first = await one.generate("go", initial);
		expect(statuses(first.state.plan)).toEqual(["a: completed", "b: pending"]);
		const second = await one.generate("something else", first.state);
		expect(statuses(second.state.plan)).toEqual(["c: completed"]);
		expect(lines(model.requests[2]?.messages ?? []).at(-1)).not.toContain("Completed so far");
	});

	test("follows messages sent between two steps: completed steps stay, the others are planned again", async () => {
		const model = scriptedModel([
			planOf({ id: "a" }, { id: "b" }),
			"a",
			planOf({ id: "c", dependsOn: ["a"] }),
			"c",
		]);
		const strategy: AgentStrategy = {
			async onStepEnd(step) {
				if (step === 1) await session.steer("Do c instead of b.");
			},
		};
		const one = agent({ model, execution: plan(), strategy });
		const session = one.session("k");
		const { state } = await (await session.send("go")).result();
		expect(statuses(state.plan)).toEqual(["a: completed", "c: completed"]);
		expect(lines(model.requests[2]?.messages ?? []).at(-1)).toContain('Completed so far: "a"');
		await one.close();
	});
});
