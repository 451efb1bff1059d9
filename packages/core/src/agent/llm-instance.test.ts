import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, createTurn, emptyUsage, type LLMInstance, llm } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent } from "./agent.ts";

const add = {
	name: "add",
	description: "Adds.",
	parameters: { type: "object" as const, properties: {} },
	run: () => 3,
};

describe("an instance of llm() as a model", () => {
	test("provides its own options, and the agent's take precedence", async () => {
		const model = scriptedModel([{ toolCalls: [{ name: "add" }] }, "Three.", "Four."]);
		const instance = llm({ model, system: "Be brief.", params: { temperature: 0 } });
		const agent = new Agent({ model: instance, tools: [add] });
		expect((await agent.generate("1 + 2?")).turn.response.text).toBe("Three.");
		await new Agent({ model: instance, instructions: "Be exact.", params: { temperature: 1 } }).generate(
			"2 + 2?",
		);
		expect(model.requests.map(({ system, params }) => [system, params])).toEqual([
			["Be brief.", { temperature: 0 }],
			["Be brief.", { temperature: 0 }],
			["Be exact.", { temperature: 1 }],
		]);
	});

	test("works in a session", async () => {
		const agent = new Agent({ model: llm({ model: scriptedModel(["Hello."]) }) });
		const result = await (await agent.session("s").send("Hi.")).result();
		await agent.close();
		expect([result.outcome, result.text]).toEqual(["completed", "Hello."]);
	});
});

describe("an instance created elsewhere", () => {
	const generate = async () =>
		createTurn({ messages: [new AssistantMessage("From elsewhere.")], usage: emptyUsage(), cycles: 1 });
	const instance = {
		generate,
		stream: () => ({ turn: generate(), abort() {}, async *[Symbol.asyncIterator]() {} }),
	} as unknown as LLMInstance;

	test("is called unchanged, in a call and in a session", async () => {
		const agent = new Agent({ model: instance });
		expect((await agent.generate("Hi.")).turn.response.text).toBe("From elsewhere.");
		const result = await (await agent.session("s").send("Hi.")).result();
		expect([result.outcome, result.text]).toEqual(["completed", "From elsewhere."]);
		await agent.close();
	});

	test("costs what its prices specify", async () => {
		const usage = { ...emptyUsage(), inputTokens: 10, outputTokens: 5, totalTokens: 15 };
		const priced = {
			...instance,
			stream: () => ({
				turn: generate().then((turn) => ({ ...turn, usage })),
				abort() {},
				async *[Symbol.asyncIterator]() {},
			}),
		} as unknown as LLMInstance;
		const agent = new Agent({ model: priced, prices: { llm: { input: 1, output: 2 } } });
		const { cost } = await (await agent.session("s").send("Hi.")).result();
		await agent.close();
		expect(cost).toBeCloseTo(20 / 1e6);
	});

	test.each([
		["tools", [add]],
		["system", "Be brief."],
		["params", {}],
		["structure", { type: "object" }],
		["toolStrategy", {}],
		["onRetry", () => {}],
	])("rejects the option `%s`, which would not reach it", (name, value) => {
		expect(() => new Agent({ model: instance, [name]: value } as never)).toThrow(
			expect.objectContaining({ code: "invalid_option", message: expect.stringContaining(`\`${name}\``) }),
		);
	});
});
