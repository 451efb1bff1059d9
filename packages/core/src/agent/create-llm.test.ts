import { scriptedModel } from "@holdfast/testing";
import type { LLMRequest } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { memoryHost } from "../host/index.ts";
import type { ToolContext } from "../tools/index.ts";
import { lines } from "./agent.fixture.ts";
import { Agent } from "./agent.ts";
import { createLlm } from "./create-llm.ts";
import type { ModelMessage } from "./model-messages.ts";

const add = {
	name: "add",
	description: "Adds.",
	parameters: { type: "object" as const, properties: {} },
	run: () => 3,
};

const asked: ModelMessage = { role: "user", content: "1 + 2?" };

describe("createLlm", () => {
	test("returns a function that calls the model once and runs the requested tools", async () => {
		const model = scriptedModel([{ text: "Let me see.", toolCalls: [{ name: "add" }] }, "It is 3."]);
		const llm = createLlm({ model, instructions: "Be brief.", tools: [add], toolChoice: "required" });
		const first = await llm({ history: [asked] });
		expect(first).toEqual([
			{
				role: "assistant",
				content: [
					{ type: "text", text: "Let me see." },
					{ type: "tool-call", toolCallId: "call_0_0", toolName: "add", input: {} },
				],
			},
			{
				role: "tool",
				content: [
					{
						type: "tool-result",
						toolCallId: "call_0_0",
						toolName: "add",
						output: { type: "json", value: 3 },
					},
				],
			},
		]);
		expect(await llm({ history: [asked, ...first] })).toEqual([{ role: "assistant", content: "It is 3." }]);
		const [one, two] = model.requests as [LLMRequest, LLMRequest];
		expect([one.system, one.params]).toEqual(["Be brief.", { toolChoice: "required" }]);
		expect(lines(two.messages)).toEqual(["user: 1 + 2?", "assistant: Let me see. [add]", "results: 3"]);
	});

	test("returns a value that an agent accepts as its model", async () => {
		const model = scriptedModel([{ toolCalls: [{ name: "add" }] }, "It is 3."]);
		const agent = new Agent({ model: createLlm({ model, tools: [add] }) });
		const result = await (await agent.send("1 + 2?")).result();
		expect([result.outcome, result.text]).toEqual(["completed", "It is 3."]);
		expect(lines(result.state.messages)).toEqual([
			"user: 1 + 2?",
			"assistant:  [add]",
			"results: 3",
			"assistant: It is 3.",
		]);
	});

	test("answers its instructions if the history is empty", async () => {
		const model = scriptedModel(["Welcome."]);
		const llm = createLlm({ model, instructions: "Greet." });
		expect(await llm({ history: [] })).toEqual([{ role: "assistant", content: "Welcome." }]);
		expect(model.requests[0]).toMatchObject({ system: "Greet." });
		expect(lines(model.requests[0]?.messages ?? [])).toEqual(["user: "]);
	});

	test("passes its tools the run, the session and the caller of its agent", async () => {
		const seen: (ToolContext | undefined)[] = [];
		const tool = { ...add, run: (_: unknown, context?: ToolContext) => seen.push(context?.parentContext) };
		const model = scriptedModel([{ toolCalls: [{ name: "add" }] }, "It is 3."]);
		const agent = new Agent({ model: createLlm({ model, tools: [tool] }), host: memoryHost() });
		const run = await agent.session("s").send("1 + 2?");
		await run.result();
		expect(seen).toMatchObject([
			{
				runId: run.runId,
				sessionKey: "s",
				attempt: 1,
				step: 1,
				idempotencyKey: `${run.runId}.1.model`,
				retryPolicy: "manual-recovery",
			},
		]);
		expect(seen[0]?.signal).toBeInstanceOf(AbortSignal);
		await agent.close();
	});

	test("stops when its signal aborts", async () => {
		const controller = new AbortController();
		const model = scriptedModel([{ gate: new Promise(() => {}), text: "never" }]);
		const asking = createLlm({ model })({ history: [asked], signal: controller.signal });
		controller.abort();
		await expect(asking).rejects.toMatchObject({ code: "CANCELLED" });
	});

	test.each<[string, unknown]>([
		["nothing", undefined],
		["a hole", [null]],
		["a system prompt", [{ role: "system", content: "Be brief." }]],
		["a part of no kind", [{ role: "user", content: [{ type: "what" }] }]],
		["a result of no call", [asked, { role: "tool", content: [{ type: "tool-result", toolCallId: "x" }] }]],
	])("rejects a history with %s", async (_, history) => {
		const llm = createLlm({ model: scriptedModel([]) });
		await expect(llm({ history: history as never })).rejects.toMatchObject({ code: "invalid_input" });
	});

	test("rejects an invalid model", () => {
		expect(() => createLlm({} as never)).toThrow(/`model`/);
	});
});

describe("the option `toolChoice`", () => {
	test.each(["auto", "none", "required", { type: "tool", toolName: "add" }] as const)(
		"is in every request: %j",
		async (toolChoice) => {
			const model = scriptedModel(() => "Hi.");
			const agent = new Agent({ model, tools: [add], toolChoice, params: { temperature: 0 } });
			await agent.generate("hi");
			await (await agent.send("hi")).result();
			const wanted = { temperature: 0, toolChoice };
			expect(model.requests.map(({ params }) => params)).toEqual([wanted, wanted]);
		},
	);

	test.each([1, "any", {}, { type: "tool" }, null])("is rejected by name if it is %j", (toolChoice) => {
		const made = () => new Agent({ model: scriptedModel([]), toolChoice: toolChoice as never });
		expect(made).toThrow(TypeError);
		expect(made).toThrow("`toolChoice`");
	});

	test("cannot be combined with a function as model", () => {
		expect(() => new Agent({ model: () => [], toolChoice: "auto" })).toThrow("`toolChoice`");
	});
});
