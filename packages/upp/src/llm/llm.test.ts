import { describe, expect, test } from "vitest";
import { ErrorCode, UPPError } from "../errors/index.ts";
import { AssistantMessage, type Tool, type ToolResultMessage, UserMessage } from "../messages/index.ts";
import { createProvider } from "../model/index.ts";
import { call, scriptedModel } from "../model/scripted-model.fixture.ts";
import type { StreamEvent } from "../stream/index.ts";
import { Thread } from "../thread/index.ts";
import { bindModel } from "./bind.ts";
import { llm } from "./llm.ts";

const parameters = { type: "object" };

function tool(name: string, run: Tool["run"], extra: Partial<Tool> = {}): Tool {
	return { name, description: `The tool ${name}.`, parameters, run, ...extra };
}

const add = tool("add", ({ a, b }: { a: number; b: number }) => a + b);

test.each([[undefined], [null], ["gpt"]])("llm(%s) is a TypeError that lists what it accepts", (options) => {
	expect(() => llm(options as never)).toThrow(TypeError);
	expect(() => llm(options as never)).toThrow("llm() takes an object of options: { model }.");
});

describe("generate", () => {
	test("returns a turn of the inputs and all new messages, never the history", async () => {
		const { reference, requests } = scriptedModel({ text: "hello" });
		const instance = llm({ model: reference, system: "Be kind.", params: { temperature: 0 } });
		const history = [new UserMessage("before"), new AssistantMessage("then")];
		const turn = await instance.generate(history, "now", { type: "text", text: "and this" });
		expect(turn.messages.map(({ text }) => text)).toEqual(["now\n\nand this", "hello"]);
		expect(turn.response.text).toBe("hello");
		expect(turn.cycles).toBe(1);
		expect(turn.usage).toEqual({
			inputTokens: 10,
			outputTokens: 5,
			totalTokens: 15,
			cacheReadTokens: 2,
			cycles: [{ inputTokens: 10, outputTokens: 5 }],
		});
		expect(requests[0]).toMatchObject({ system: "Be kind.", params: { temperature: 0 } });
		expect(requests[0]?.messages.map(({ text }) => text)).toEqual(["before", "then", "now\n\nand this"]);
		expect(instance).toMatchObject({ system: "Be kind.", params: { temperature: 0 } });
		expect(instance.capabilities).toBe(instance.model.capabilities);
	});

	test("accepts a thread as history, messages as inputs, and rejects anything else", async () => {
		const { reference, requests } = scriptedModel({ text: "ok" });
		const thread = new Thread().user("one").assistant("two");
		const given = new UserMessage("three", { id: "mine" });
		const turn = await llm({ model: reference }).generate(thread, given);
		thread.append(turn);
		expect(requests[0]?.messages.map(({ text }) => text)).toEqual(["one", "two", "three"]);
		expect(turn.messages[0]).toBe(given);
		expect(thread).toHaveLength(4);
		await expect(llm({ model: reference }).generate({ type: "what" } as never)).rejects.toMatchObject({
			code: "invalid_input",
		});
	});

	test("runs tools in parallel and returns their results in call order", async () => {
		const order: string[] = [];
		const gate = Promise.withResolvers<void>();
		const slow = tool("slow", async () => {
			order.push("slow starts");
			await gate.promise;
			order.push("slow ends");
			return "slow";
		});
		const fast = tool("fast", () => {
			order.push("fast");
			gate.resolve();
			return { fast: true };
		});
		const { reference, requests } = scriptedModel({ calls: [call("slow"), call("fast")] }, { text: "done" });
		const turn = await llm({ model: reference, tools: [slow, fast] }).generate("go");
		expect(order).toEqual(["slow starts", "fast", "slow ends"]);
		expect(turn.messages.map(({ type }) => type)).toEqual(["user", "assistant", "tool_result", "assistant"]);
		expect((turn.messages[2] as ToolResultMessage).results).toEqual([
			{ toolCallId: "slow", result: "slow" },
			{ toolCallId: "fast", result: { fast: true } },
		]);
		expect(turn.toolExecutions).toEqual([
			expect.objectContaining({ toolName: "slow", isError: false, duration: expect.any(Number) }),
			expect.objectContaining({ toolName: "fast", result: { fast: true } }),
		]);
		expect(turn.cycles).toBe(2);
		expect(turn.usage).toMatchObject({ totalTokens: 30, cacheReadTokens: 4 });
		expect(requests[1]?.messages).toHaveLength(3);
		expect(requests[0]?.messages).toHaveLength(1);
	});

	test("answers calls that fail, name no tool or have unreadable arguments with error results", async () => {
		const failing = tool("failing", () => {
			throw new Error("out of order");
		});
		const { reference } = scriptedModel(
			{ calls: [call("failing"), call("missing"), { ...call("add"), invalidArguments: "{a:" }] },
			{ text: "sorry" },
		);
		const turn = await llm({ model: reference, tools: [failing, add] }).generate("go");
		expect((turn.messages[2] as ToolResultMessage).results).toEqual([
			{ toolCallId: "failing", result: "out of order", isError: true },
			{ toolCallId: "missing", result: 'There is no tool named "missing".', isError: true },
			{ toolCallId: "add", result: "The arguments are not a JSON object: {a:", isError: true },
		]);
	});

	test("calls the hooks: to observe, to reject, to change arguments and results", async () => {
		const seen: string[] = [];
		const failing = tool("failing", () => {
			throw new Error("no");
		});
		const guarded = tool("guarded", () => "ran", { approval: () => false });
		const { reference } = scriptedModel(
			{ calls: [call("add", { a: 1, b: 2 }), call("failing"), call("refused"), call("guarded")] },
			{ text: "done" },
		);
		const turn = await llm({
			model: reference,
			tools: [add, failing, tool("refused", () => "ran"), guarded],
			toolStrategy: {
				onToolCall: ({ name }) => void seen.push(`call ${name}`),
				onBeforeCall: ({ name }) =>
					name === "add" ? { proceed: true, params: { a: 10, b: 20 } } : name !== "refused",
				onAfterCall: (_, params, result) => (result === 30 ? `${params.a}+${params.b}=${result}` : undefined),
				onError: ({ name }, _, error) => void seen.push(`${name}: ${error.message}`),
			},
		}).generate("go");
		expect(seen).toEqual(["call add", "call failing", "call refused", "call guarded", "failing: no"]);
		expect(turn.toolExecutions.map(({ result, approved }) => [result, approved])).toEqual([
			["10+20=30", true],
			["no", undefined],
			["This tool call was not allowed, so it was not run.", false],
			["This tool call was not allowed, so it was not run.", false],
		]);
	});

	test("has no limit of rounds by default, and a configured one ends the turn with an error that names it", async () => {
		const rounds = Array.from({ length: 60 }, () => ({ calls: [call("add", { a: 1, b: 1 })] }));
		const free = await llm({
			model: scriptedModel(...rounds, { text: "done" }).reference,
			tools: [add],
		}).generate("go");
		expect(free.toolExecutions).toHaveLength(60);
		const reached: number[] = [];
		const limited = llm({
			model: scriptedModel({ calls: [call("add", { a: 1, b: 1 })] }).reference,
			tools: [add],
			toolStrategy: { maxIterations: 3, onMaxIterations: (limit) => void reached.push(limit) },
		});
		await expect(limited.generate("go")).rejects.toMatchObject({
			code: "INVALID_REQUEST",
			message: expect.stringContaining("3"),
		});
		expect(reached).toEqual([3]);
	});

	test("returns the parsed answer if a structure was requested", async () => {
		const { reference, requests } = scriptedModel({ text: '{"a":1}', data: { a: 1 } });
		const structure = { type: "object", properties: { a: { type: "number" } } };
		expect((await llm({ model: reference, structure }).generate("x")).data).toEqual({ a: 1 });
		expect(requests[0]?.structure).toBe(structure);
	});

	test("rejects with the provider's own error", async () => {
		const error = new UPPError("No.", ErrorCode.AUTHENTICATION_FAILED, "scripted", "llm", 401);
		await expect(llm({ model: scriptedModel({ error }).reference }).generate("x")).rejects.toBe(error);
	});
});

describe("stream", () => {
	test("emits the model's events and the tools', and settles the same turn", async () => {
		const { reference } = scriptedModel(
			{ text: "let me ", calls: [call("add", { a: 1, b: 2 }, "c1")] },
			{ text: "it is 3" },
		);
		const stream = llm({ model: reference, tools: [add] }).stream("go");
		const events: StreamEvent[] = [];
		for await (const event of stream) events.push(event);
		expect(events.map(({ type, delta }) => delta.text ?? delta.toolCallId ?? type)).toEqual([
			"message_start",
			"let ",
			"me ",
			"message_stop",
			"c1",
			"c1",
			"message_start",
			"it ",
			"is ",
			"3",
			"message_stop",
		]);
		expect(events.filter(({ type }) => type.startsWith("tool")).map(({ type }) => type)).toEqual([
			"tool_execution_start",
			"tool_execution_end",
		]);
		const turn = await stream.turn;
		expect(turn.response.text).toBe("it is 3");
		expect(turn.toolExecutions[0]?.result).toBe(3);
	});

	test("settles the turn if no one reads, and if the reader leaves", async () => {
		const instance = llm({ model: scriptedModel({ text: "hello there" }).reference });
		expect((await instance.stream("x").turn).response.text).toBe("hello there");
		const left = instance.stream("x");
		for await (const _ of left) break;
		expect((await left.turn).response.text).toBe("hello there");
	});

	test("ends reading and turn with the same error", async () => {
		const error = new UPPError("No.", ErrorCode.PROVIDER_ERROR, "scripted", "llm", 500);
		const stream = llm({ model: scriptedModel({ error }).reference }).stream("x");
		const read = (async () => {
			for await (const _ of stream);
		})();
		await expect(read).rejects.toBe(error);
		await expect(stream.turn).rejects.toBe(error);
	});

	test("is cancelled while the model is silent, before it is read, and twice", async () => {
		const { reference, requests } = scriptedModel({ hang: true });
		const stream = llm({ model: reference }).stream("x");
		const read = (async () => {
			for await (const _ of stream);
		})();
		stream.abort();
		stream.abort();
		await expect(read).rejects.toMatchObject({ code: "CANCELLED" });
		await expect(stream.turn).rejects.toMatchObject({ code: "CANCELLED" });
		expect(requests[0]?.signal?.aborted).toBe(true);
	});

	test("is cancelled while a tool runs: its signal aborts, the turn settles at once", async () => {
		const started = Promise.withResolvers<AbortSignal>();
		const deaf = tool("deaf", (_, context: { signal: AbortSignal }) => {
			started.resolve(context.signal);
			return new Promise(() => {});
		});
		const { reference, requests } = scriptedModel({ calls: [call("deaf")] });
		const stream = llm({ model: reference, tools: [deaf] }).stream("x");
		const signal = await started.promise;
		stream.abort();
		await expect(stream.turn).rejects.toMatchObject({ code: "CANCELLED" });
		expect(signal.aborted).toBe(true);
		expect(requests).toHaveLength(1);
	});
});

describe("binding a model", () => {
	test("builds requests from all options, including unknown ones, and from the call's additions", () => {
		const { reference } = scriptedModel({ text: "ok" });
		const options = { model: reference, system: "s", tools: [add], params: { a: 1 }, unheardOf: { b: 2 } };
		const binding = bindModel(options);
		const messages = [new UserMessage("x")];
		const request = Object.fromEntries(Object.entries(binding.request(messages)));
		expect(request).toEqual({
			messages,
			config: {},
			system: "s",
			tools: [add],
			params: { a: 1 },
			unheardOf: { b: 2 },
		});
		const { signal } = new AbortController();
		const structure = { type: "object" };
		const extra = { signal, structure, system: "other", tools: [] };
		expect(binding.request(messages, extra)).toMatchObject(extra);
	});

	test("computes messages given as a function when they are first read, and once", () => {
		let computed = 0;
		const request = bindModel({ model: scriptedModel({ text: "ok" }).reference }).request(() => {
			computed++;
			return [new UserMessage("x")];
		});
		expect(Object.keys(request)).toContain("messages");
		expect(computed).toBe(0);
		expect(request.messages).toBe(request.messages);
		expect({ ...request }.messages).toHaveLength(1);
		expect(computed).toBe(1);
	});

	test("rejects a provider without language models", () => {
		const provider = createProvider({ name: "pictures", version: "1", modalities: {} });
		expect(() => bindModel({ model: provider("x") })).toThrow(
			expect.objectContaining({ code: "no_language_model" }),
		);
	});
});
