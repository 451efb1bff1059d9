// What loop(), react() and plan() share, because one engine drives them.

import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { anyTool, collect, contentOf, dataOf, lines } from "../agent/agent.fixture.ts";
import { agent } from "../agent/agent.ts";
import { createSubAgentTool } from "../agent/create-sub-agent-tool.ts";
import type { AgentStrategy } from "../engine/engine-agent.ts";
import { AgentState } from "../state/agent-state.ts";
import { loop } from "./loop.ts";
import { plan } from "./plan.ts";
import { react } from "./react.ts";

const call: ScriptedReply = { text: "Acting.", toolCalls: [{ name: "echo" }, { name: "fails" }] };
const steps = [
	{ id: "b", description: "B", dependsOn: ["a"] },
	{ id: "a", description: "A", tool: "echo", dependsOn: [] },
];
const strategies = [
	{ name: "loop", execution: loop(), script: [call, "Done."], steps: 2 },
	{ name: "react", execution: react(), script: ["Hm.", call, "Hm, hm.", "Done."], steps: 2 },
	{
		name: "plan",
		execution: plan(),
		script: [{ text: "A plan.", data: { steps } }, call, "A is done.", "Done."],
		steps: 2,
	},
];

function make({ execution, script }: (typeof strategies)[number], strategy: AgentStrategy = {}) {
	const tools = [
		anyTool("echo", () => "echoed"),
		anyTool("fails", () => {
			throw new Error("no");
		}),
	];
	return agent({ model: scriptedModel(script), tools, execution, strategy });
}

const begun = AgentState.initial().withMetadata("startTime", 42);

describe.each(strategies)("$name()", (given) => {
	test("ends in the same state with stream() and generate() [UAP-124]", async () => {
		const { state } = await make(given).generate("go", begun);
		const stream = make(given).stream("go", begun);
		await collect(stream);
		expect(contentOf((await stream.result).state)).toEqual(contentOf(state));
		if (given.name === "react") expect(state.reasoning).toEqual(["Hm.", "Hm, hm."]);
		if (given.name === "plan")
			expect(state.plan?.map(({ status }) => status)).toEqual(["completed", "completed"]);
	});

	test("keeps all messages of all steps in order, once each [UAP-125]", async () => {
		const said = given.script.map((reply) => (typeof reply === "string" ? reply : reply.text));
		for (const { state } of [
			await make(given).generate("go", begun),
			await make(given).stream("go", begun).result,
		]) {
			const history = lines(state.messages);
			expect(history[0]).toBe("user: go");
			const acting = history.indexOf("assistant: Acting. [echo, fails]");
			expect(history[acting + 1]).toBe("results: echoed, no!");
			const answers = history.filter((line) => line.startsWith("assistant: "));
			expect(answers.map((line) => line.replace("assistant: ", "").replace(" [echo, fails]", ""))).toEqual(
				said,
			);
			expect(new Set(state.messages.map(({ id }) => id)).size).toBe(history.length);
			expect(history).toHaveLength(said.length + 2);
		}
	});

	test("calls hooks in stream() as in generate() [UAP-126]", async () => {
		const hooks = (log: unknown[]): AgentStrategy => ({
			onStepStart: (step, state) => void log.push(["start", step, lines(state.messages)]),
			onReason: (step, reasoning) => void log.push(["reason", step, reasoning]),
			onAct: (step, actions) => void log.push(["act", step, actions]),
			onObserve: (step, results) => void log.push(["observe", step, results.map(({ result }) => result)]),
			onStepEnd: (step, { turn, state }) => void log.push(["end", step, lines(turn.messages), state.plan]),
			onComplete: ({ state }) => void log.push(["complete", state.step]),
		});
		const generated: unknown[] = [];
		await make(given, hooks(generated)).generate("go", begun);
		const streamed: unknown[] = [];
		await make(given, hooks(streamed)).stream("go", begun).result;
		expect(streamed).toEqual(generated);
		expect(generated.filter((entry) => (entry as unknown[])[0] === "end")).toHaveLength(given.steps);
		expect(generated.at(-1)).toEqual(["complete", given.steps]);
	});

	test("emits each step from step_start to step_end, with reasoning, action and observation between [UAP-122]", async () => {
		const one = make(given);
		const events = await collect(one.stream("go", begun));
		const uap = events.flatMap((event) => (event.source === "uap" ? [event.uap] : []));
		const thought = given.name === "react" ? [["reasoning", 1]] : [];
		const last = given.name === "react" ? [["reasoning", 2]] : [];
		expect(uap.map(({ type, step }) => [type, step])).toEqual([
			["step_start", 1],
			...thought,
			["action", 1],
			["observation", 1],
			["step_end", 1],
			["step_start", 2],
			...last,
			["step_end", 2],
		]);
		expect(new Set(uap.map(({ agentId }) => agentId))).toEqual(new Set([one.id]));
		expect(dataOf(events, "action")).toMatchObject([
			{ toolCalls: [{ toolName: "echo" }, { toolName: "fails" }] },
		]);
		expect(dataOf(events, "observation")).toMatchObject([
			{
				results: [
					{ result: "echoed", isError: false },
					{ result: "no", isError: true },
				],
			},
		]);
	});

	test("shows stopCondition the metadata set before the call, in every step [UAP-110]", async () => {
		const seen: unknown[] = [];
		const strategy: AgentStrategy = {
			stopCondition: ({ metadata }) => {
				seen.push(metadata.startTime);
				return metadata.taskComplete === true;
			},
		};
		await make(given, strategy).generate("go", begun);
		expect(seen).toEqual(Array(given.steps).fill(42));
		const { state } = await make(given, strategy).generate("go", begun.withMetadata("taskComplete", true));
		expect(state.step).toBe(1);
	});

	test("does not apply limits and conditions to the agents that its tools call [UAP-148]", async () => {
		const rounds: ScriptedReply[] = Array.from({ length: 3 }, () => ({ toolCalls: [{ name: "nothing" }] }));
		const child = agent({
			model: scriptedModel([...rounds, "done"]),
			tools: [anyTool("nothing", () => "")],
		});
		const steps: number[] = [];
		const echo = createSubAgentTool({
			agent: agent({ ...child, strategy: { onStepEnd: (step) => void steps.push(step) } }),
			name: "echo",
			description: "Works.",
			parameters: { type: "object" },
		});
		const parent = agent({
			model: scriptedModel(given.script),
			tools: [echo, anyTool("fails", () => "")],
			execution: given.execution,
			strategy: { stopCondition: ({ step }) => step >= 1 },
			toolStrategy: { maxIterations: 1 },
		});
		expect((await parent.generate("go", begun)).state.step).toBe(1);
		expect(steps).toEqual([1, 2, 3, 4]);
	});

	test("sums the usage of all its model calls: turn, stopCondition's state and step_end [UAP-111]", async () => {
		const seen: (number | undefined)[] = [];
		const strategy: AgentStrategy = {
			stopCondition: ({ usage }) => {
				seen.push(usage?.totalTokens);
				return false;
			},
		};
		const stream = make(given, strategy).stream("go", begun);
		const emitted = dataOf(await collect(stream), "step_end").map(
			(data) => (data as { usage: { totalTokens: number } }).usage,
		);
		const { turn, state } = await stream.result;
		const total = given.script.length * 15;
		expect(turn.usage.totalTokens).toBe(total);
		expect(state.usage?.totalTokens).toBe(total);
		expect(seen.at(-1)).toBe(total);
		expect(emitted.map((usage) => usage.totalTokens)).toEqual(seen);
	});
});
