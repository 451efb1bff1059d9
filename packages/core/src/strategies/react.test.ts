import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import type { LLMRequest } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { anyTool, lines, withoutIdentity } from "../agent/agent.fixture.ts";
import { agent } from "../agent/agent.ts";
import type { AgentStrategy } from "../engine/engine-agent.ts";
import { AgentState } from "../state/agent-state.ts";
import { react } from "./react.ts";

const initial = AgentState.initial();
const call: ScriptedReply = { text: "Acting.", toolCalls: [{ name: "echo" }] };
const alternating = () =>
	scriptedModel((_, number) => (number % 2 === 0 ? `thought ${number / 2 + 1}` : call));
const sent = ({ messages }: LLMRequest) => lines(messages);

describe("react()", () => {
	test("calls the hooks of a step in order around its tools, all with its number [UAP-034]", async () => {
		const log: unknown[] = [];
		const strategy: AgentStrategy = {
			onStepStart: (step) => void log.push(["start", step]),
			onReason: (step) => void log.push(["reason", step]),
			onAct: (step) => void log.push(["act", step]),
			onObserve: (step) => void log.push(["observe", step]),
			onStepEnd: (step) => void log.push(["end", step]),
		};
		const echo = anyTool("echo", (_, { step }) => void log.push(["tool", step]));
		const model = scriptedModel(["a", call, "b", call, "c", "done"]);
		await agent({ model, tools: [echo], execution: react(), strategy }).generate("go", initial);
		const whole = (step: number) =>
			["start", "reason", "act", "tool", "observe", "end"].map((hook) => [hook, step]);
		expect(log).toEqual([...whole(1), ...whole(2), ["start", 3], ["reason", 3], ["end", 3]]);
	});

	test("calls the model twice per step, each time with the input and everything before [UAP-035]", async () => {
		const model = scriptedModel(["first thought", call, "second thought", "done"]);
		const echo = anyTool("echo", () => "echoed");
		await agent({ model, tools: [echo], execution: react({ reasoningPrompt: "Think." }) }).generate(
			"go",
			initial,
		);
		const acting = model.requests[1] as LLMRequest;
		const prompt = sent(acting).at(-1) as string;
		expect(prompt).toMatch(/^user: ./);
		const stepOne = ["assistant: first thought", "assistant: Acting. [echo]", "results: echoed"];
		expect(model.requests.map(sent)).toEqual([
			["user: go", "user: Think."],
			["user: go", "assistant: first thought", prompt],
			["user: go", ...stepOne, "user: Think."],
			["user: go", ...stepOne, "assistant: second thought", prompt],
		]);
	});

	test("runs no tool that the reasoning requests; its request is kept as text [UAP-036]", async () => {
		let ran = 0;
		const echo = anyTool("echo", () => ++ran);
		const impatient = { toolCalls: [{ name: "echo", arguments: { text: "now" } }] };
		const model = scriptedModel([impatient, "done"]);
		const acted: unknown[] = [];
		const strategy: AgentStrategy = { onAct: (step) => void acted.push(step) };
		const one = agent({ model, tools: [echo], execution: react(), strategy });
		const { turn, state } = await one.generate("go", initial);
		expect([ran, acted, turn.toolExecutions]).toEqual([0, [], []]);
		expect(lines(state.messages)).toEqual([
			"user: go",
			`assistant: Next: echo({"text":"now"})`,
			"assistant: done",
		]);
		expect(state.reasoning).toEqual([`Next: echo({"text":"now"})`]);
	});

	test("keeps thoughts in order, reports them to onReason and shows them to the action [UAP-037]", async () => {
		const emitted: unknown[] = [];
		const model = scriptedModel(["one", call, "two", call, "three", "done"]);
		const strategy: AgentStrategy = { onReason: (step, reasoning) => void emitted.push([step, reasoning]) };
		const one = agent({ model, tools: [anyTool("echo", () => "")], execution: react(), strategy });
		const { state } = await one.generate("go", initial.withReasoning("from before"));
		expect(state.reasoning).toEqual(["from before", "one", "two", "three"]);
		expect(emitted).toEqual([
			[1, "one"],
			[2, "two"],
			[3, "three"],
		]);
		for (const [at, thought] of ["one", "two", "three"].entries()) {
			const action = model.requests[2 * at + 1] as LLMRequest;
			expect(sent(action).at(-2)).toBe(`assistant: ${thought}`);
		}
	});

	test("uses the given reasoning prompt in every reasoning request, or its own [UAP-038]", async () => {
		const last = (given?: string) => async () => {
			const model = scriptedModel(["a", call, "b", "done"]);
			const execution = react(given === undefined ? {} : { reasoningPrompt: given });
			const one = agent({ model, tools: [anyTool("echo", () => "")], execution });
			const { state } = await one.generate("go", initial);
			expect(lines(state.messages).filter((line) => line.startsWith("user"))).toEqual(["user: go"]);
			return [0, 2].map((at) => sent(model.requests[at] as LLMRequest).at(-1));
		};
		expect(await last("P")()).toEqual(["user: P", "user: P"]);
		const [first, second] = await last()();
		expect(first).toMatch(/^user: \w{4,}/);
		expect(second).toBe(first);
	});

	test("ends with the action that calls no tools, which is the response [UAP-039]", async () => {
		const log: unknown[] = [];
		const strategy: AgentStrategy = {
			onAct: (step) => void log.push(["act", step]),
			onObserve: (step) => void log.push(["observe", step]),
		};
		const model = scriptedModel(["a", call, "b", "the answer", "never asked for"]);
		const one = agent({ model, tools: [anyTool("echo", () => "")], execution: react(), strategy });
		const { turn, state } = await one.generate("go", initial);
		expect(turn.response.text).toBe("the answer");
		expect(state.messages.at(-1)).toBe(turn.response);
		expect(model.requests).toHaveLength(4);
		expect(log).toEqual([
			["act", 1],
			["observe", 1],
		]);
	});

	test.each([1, 2, 7])("with maxSteps %i performs that many steps and then returns [UAP-040]", async (n) => {
		let ran = 0;
		const model = alternating();
		const echo = anyTool("echo", () => ++ran);
		const one = agent({ model, tools: [echo], execution: react({ maxSteps: n }) });
		for (const { turn, state } of [
			await one.generate("go", initial),
			await one.stream("go", initial).result,
		]) {
			expect(state.step).toBe(n);
			expect(turn.toolExecutions).toHaveLength(n);
			expect(state.reasoning).toHaveLength(n);
		}
		expect(ran).toBe(2 * n);
		expect(model.requests).toHaveLength(4 * n);
	});

	test("counts steps from 1 in each call, with the full maxSteps [UAP-042]", async () => {
		const one = agent({
			model: alternating(),
			tools: [anyTool("echo", () => "")],
			execution: react({ maxSteps: 2 }),
		});
		const first = await one.generate("go", initial);
		const seen: number[] = [];
		const two = agent({ ...one, strategy: { onStepStart: (step) => void seen.push(step) } });
		const second = await two.generate("continue", first.state);
		expect(seen).toEqual([1, 2]);
		expect([first.state.step, second.state.step]).toEqual([2, 2]);
		expect(second.turn.toolExecutions).toHaveLength(2);
	});

	test("calls stopCondition once after onStepEnd of every step; true ends it while calls continue [UAP-041]", async () => {
		const log: unknown[] = [];
		const strategy: AgentStrategy = {
			onStepEnd: (step) => void log.push(["end", step]),
			stopCondition(state) {
				log.push(["stop?", state.step, lines(state.messages).length]);
				return state.step === 2;
			},
		};
		const one = agent({
			model: alternating(),
			tools: [anyTool("echo", () => "")],
			execution: react(),
			strategy,
		});
		const { turn } = await one.generate("go", initial);
		expect(log).toEqual([
			["end", 1],
			["stop?", 1, 4],
			["end", 2],
			["stop?", 2, 7],
		]);
		expect(turn.response.hasToolCalls).toBe(true);
	});

	test("reasons in free text with the tools listed, even if the answer has a structure", async () => {
		const structure = { type: "object", properties: { answer: { type: "number" } } } as const;
		const model = scriptedModel(["a", { text: `{"answer":42}`, data: { answer: 42 } }]);
		const one = agent({ model, tools: [anyTool("echo", () => "")], execution: react(), structure });
		const { turn } = await one.generate("go", initial);
		expect(turn.data).toEqual({ answer: 42 });
		expect(model.requests.map((request) => request.structure)).toEqual([undefined, structure]);
		expect(model.requests.map((request) => request.tools?.map((tool) => tool.name))).toEqual([
			["echo"],
			["echo"],
		]);
	});

	test("finishes 60 steps without a limit of its own [UAP-007]", async () => {
		const model = scriptedModel((_, number) => (number % 2 === 0 ? "Hm." : number < 120 ? call : "done"));
		const one = agent({ model, tools: [anyTool("echo", () => "")], execution: react() });
		const { turn, state } = await one.generate("go", initial);
		expect(turn.toolExecutions).toHaveLength(60);
		expect(state.step).toBe(61);
		expect(turn.response.text).toBe("done");
		expect(withoutIdentity(state.messages)).toHaveLength(1 + 60 * 3 + 2);
	});
});
