import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import {
	AssistantMessage,
	isHoldfastError,
	llm,
	type Message,
	ToolResultMessage,
	UPPError,
	UserMessage,
} from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { AgentState } from "../state/agent-state.ts";
import { loop } from "../strategies/loop.ts";
import { answer, anyTool, collect, contentOf, kinds, lines, modelOf } from "./agent.fixture.ts";
import { Agent, agent } from "./agent.ts";
import type { AgentOptions } from "./options.ts";

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const initial = AgentState.initial();
const echo = anyTool("echo", ({ text }) => text ?? "echoed");
const oneTool: readonly (string | ScriptedReply)[] = [
	{ text: "Let me see.", toolCalls: [{ name: "echo" }] },
	"Done.",
];

describe("the result of a call", () => {
	test("the turn of generate, stream, ask and query has the model layer's type [UAP-002]", async () => {
		const expected = await llm({
			model: scriptedModel(oneTool),
			tools: [{ name: "echo", description: "", parameters: { type: "object" }, run: () => "echoed" }],
		}).generate("go");
		const make = () => agent({ model: scriptedModel(oneTool), tools: [echo] });
		const turns = [
			(await make().generate("go", initial)).turn,
			(await make().stream("go", initial).result).turn,
			(await make().ask("go", initial)).turn,
			await make().query("go"),
		];
		for (const turn of turns) {
			expect(Object.keys(turn).sort()).toEqual(Object.keys(expected).sort());
			expect(lines(turn.messages)).toEqual(lines(expected.messages));
			expect(turn.response.text).toBe("Done.");
			expect(turn.usage).toEqual(expected.usage);
			expect(turn.cycles).toBe(expected.cycles);
			expect(turn.toolExecutions).toEqual([{ ...expected.toolExecutions[0], duration: expect.any(Number) }]);
		}
		const structured = agent({ model: scriptedModel([{ text: "{}", data: { a: 1 } }]) });
		expect(await structured.query("go")).toMatchObject({ data: { a: 1 } });
	});

	test("messages in the state have the model layer's type, with unchanged provider metadata [UAP-003]", async () => {
		const metadata = { maker: { signature: "s1", nested: [1, { deep: true }] } };
		const calls = [
			{ toolCallId: "c1", toolName: "echo", arguments: {}, metadata: { maker: { token: "t" } } },
		];
		const said = [
			new AssistantMessage([{ type: "text", text: "wait" }], calls, { metadata }),
			new AssistantMessage("done"),
		];
		const model = modelOf({ complete: async () => answer(said.shift() as AssistantMessage) });
		const { state } = await agent({ model, tools: [echo] }).generate("go", initial);
		const [user, assistant, results] = state.messages;
		expect(user).toBeInstanceOf(UserMessage);
		expect(assistant).toBeInstanceOf(AssistantMessage);
		expect(results).toBeInstanceOf(ToolResultMessage);
		expect(assistant?.metadata).toEqual(metadata);
		expect((assistant as AssistantMessage).toolCalls).toEqual(calls);
	});

	test("generate puts the text after the history, once, and returns old, input and response [UAP-020]", async () => {
		const model = scriptedModel(["first", "second"]);
		const coder = agent({ model });
		const { state: before } = await coder.generate("one", initial);
		const { turn, state } = await coder.generate("two", before);
		expect(lines(model.requests[1]?.messages ?? [])).toEqual(["user: one", "assistant: first", "user: two"]);
		expect(model.requests[1]?.messages[2]).toBeInstanceOf(UserMessage);
		expect(lines(state.messages)).toEqual([
			"user: one",
			"assistant: first",
			"user: two",
			"assistant: second",
		]);
		expect(state.messages.at(-1)).toBe(turn.response);
	});

	test("a message given as input is the same object in the request and in the state [UAP-021]", async () => {
		const model = scriptedModel(["nice"]);
		const image = {
			type: "image",
			source: { type: "bytes", data: new Uint8Array([1, 2]) },
			mimeType: "image/png",
		};
		const input = new UserMessage([{ type: "text", text: "look" }, image as never], {
			metadata: { a: { b: 1 } },
		});
		const { state } = await agent({ model }).generate(input, initial);
		expect(model.requests[0]?.messages).toEqual([input]);
		expect(model.requests[0]?.messages[0]).toBe(input);
		expect(state.messages[0]).toBe(input);
	});

	test("a failure of the provider rejects with its own error [UAP-022]", async () => {
		const error = new UPPError("too many", "RATE_LIMITED", "maker", "llm");
		const failing = agent({ model: scriptedModel([{ error }]) });
		await expect(failing.generate("go", initial)).rejects.toBe(error);
		const thrown = agent({
			model: modelOf({
				stream() {
					throw error;
				},
			}),
		});
		await expect(thrown.generate("go", initial)).rejects.toBe(error);
	});

	test("ask contains the question and the response once each [UAP-024]", async () => {
		const model = scriptedModel(["Hello Alice."]);
		const { state } = await agent({ model }).ask("I am Alice.", initial);
		expect(lines(model.requests[0]?.messages ?? [])).toEqual(["user: I am Alice."]);
		expect(lines(state.messages)).toEqual(["user: I am Alice.", "assistant: Hello Alice."]);
	});

	test("a second ask sees the first, and the first state stays empty [UAP-025]", async () => {
		const model = scriptedModel(["Hello.", "Alice."]);
		const s0 = AgentState.initial();
		const { state } = await agent({ model }).ask("I am Alice.", s0);
		await agent({ model }).ask("Who am I?", state);
		expect(lines(model.requests[1]?.messages ?? [])).toEqual([
			"user: I am Alice.",
			"assistant: Hello.",
			"user: Who am I?",
		]);
		expect(s0.messages).toEqual([]);
	});

	test("query returns only the turn and stores nothing [UAP-026]", async () => {
		const model = scriptedModel(["4", "what?"]);
		const one = agent({ model });
		const turn = await one.query("2 + 2?");
		expect(turn.response.text).toBe("4");
		expect(turn).not.toHaveProperty("state");
		await one.query("What did I ask?");
		expect(lines(model.requests[1]?.messages ?? [])).toEqual(["user: What did I ask?"]);
	});

	test("a model that answers with neither text nor calls ends the run with an empty response", async () => {
		const { turn, state } = await agent({ model: scriptedModel([{}]) }).generate("go", initial);
		expect(turn.response.text).toBe("");
		expect(lines(state.messages)).toEqual(["user: go", "assistant: "]);
	});

	test("an invalid input or state is rejected at once", async () => {
		const any = agent({ model: scriptedModel(["hi"]) });
		await expect(any.generate({} as Message, initial)).rejects.toMatchObject({ code: "invalid_input" });
		await expect(any.generate("go", {} as AgentState)).rejects.toMatchObject({ code: "invalid_state" });
		expect(() => any.stream("go", {} as AgentState)).toThrow(/AgentState/);
	});
});

describe("branches and concurrent calls", () => {
	test("two calls on one state see only that state and their own input [UAP-004]", async () => {
		const model = scriptedModel((request) => `re: ${lines(request.messages).at(-1)}`);
		const one = agent({ model });
		const { state: s1 } = await one.generate("root", initial);
		const [a, b] = await Promise.all([one.generate("A", s1), one.generate("B", s1)]);
		const root = ["user: root", "assistant: re: user: root"];
		expect(lines(model.requests[1]?.messages ?? [])).toEqual([...root, "user: A"]);
		expect(lines(model.requests[2]?.messages ?? [])).toEqual([...root, "user: B"]);
		expect(lines(a.state.messages)).toEqual([...root, "user: A", "assistant: re: user: A"]);
		expect(lines(b.state.messages)).toEqual([...root, "user: B", "assistant: re: user: B"]);
		expect(lines(s1.messages)).toEqual(root);
	});

	test("concurrent calls on one agent mix neither messages, steps, usage nor metadata [UAP-005]", async () => {
		const gate = Promise.withResolvers<void>();
		let waiting = 0;
		const meet = (): Promise<void> => {
			if (++waiting % 2 === 0) gate.resolve();
			return gate.promise;
		};
		const model = scriptedModel((request) => {
			const first = lines(request.messages).find((line) => line.startsWith("user: "));
			const rounds = request.messages.filter((message) => message instanceof ToolResultMessage).length;
			if (first === "user: long" && rounds < 3) {
				return {
					gate: meet(),
					toolCalls: [{ name: "echo", arguments: { text: `long ${rounds}` }, id: "same" }],
				};
			}
			return {
				gate: meet(),
				text: `end of ${first}`,
				usage: { inputTokens: 100, outputTokens: 1, totalTokens: 101 },
			};
		});
		const seen: unknown[] = [];
		const one = agent({
			model,
			tools: [echo],
			strategy: { onStepStart: (step, state) => void seen.push([state.metadata.who, step]) },
		});
		const [long, short] = await Promise.all([
			one.generate("long", AgentState.initial().withMetadata("who", "long")),
			one.generate("short", AgentState.initial().withMetadata("who", "short")),
		]);
		expect(lines(short.state.messages)).toEqual(["user: short", "assistant: end of user: short"]);
		expect(long.turn.toolExecutions.map((each) => each.result)).toEqual(["long 0", "long 1", "long 2"]);
		expect([long.state.step, short.state.step]).toEqual([4, 1]);
		expect(long.turn.usage.totalTokens).toBe(3 * 15 + 101);
		expect(short.turn.usage.totalTokens).toBe(101);
		expect(long.state.metadata).toEqual({ who: "long" });
		expect(seen.filter((each) => (each as unknown[])[0] === "short")).toEqual([["short", 1]]);
	});
});

describe("options", () => {
	test("an absent maxIterations sets no limit, and the caller's toolStrategy is unchanged [UAP-008]", async () => {
		const rounds = 60;
		for (const toolStrategy of [undefined, Object.freeze({}), Object.freeze({ onToolCall: () => {} })]) {
			const model = scriptedModel((_, call) => (call < rounds ? { toolCalls: [{ name: "echo" }] } : "done"));
			const options: AgentOptions = { model, tools: [echo], ...(toolStrategy && { toolStrategy }) };
			const { turn, state } = await agent({ ...options }).generate("go", initial);
			expect(turn.toolExecutions).toHaveLength(rounds);
			expect(state.step).toBe(rounds + 1);
		}
	});

	test("agents derive no schema, and an agent in the list of tools is rejected with a reason [UAP-009]", () => {
		const helper = agent({ model: scriptedModel([]) });
		const names: string[] = [];
		for (let at: object = helper; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
			names.push(...Object.getOwnPropertyNames(at));
		}
		expect(names.filter((name) => /tool|schema/i.test(name))).toEqual(["tools"]);
		expect(() => agent({ model: scriptedModel([]), tools: [helper as never] })).toThrow(
			/is an agent.*schema of its own/,
		);
	});

	test("agents and states each have their own UUID of version 4 [UAP-011]", () => {
		const options = { model: scriptedModel([]) };
		const s0 = AgentState.initial();
		const ids = [
			agent(options).id,
			agent(options).id,
			new Agent(options).id,
			s0.id,
			AgentState.initial().id,
			s0.withMessage(new UserMessage("a")).id,
			s0.withMessages([]).id,
			s0.withContext([]).id,
			s0.withStep(1).id,
			s0.withMetadata("a", 1).id,
			s0.withReasoning("r").id,
			s0.withPlan([]).id,
		];
		for (const id of ids) expect(id).toMatch(uuid4);
		expect(new Set(ids).size).toBe(ids.length);
		expect(s0.id).toBe(ids[3]);
	});

	test("without execution an agent works as with loop() [UAP-014]", async () => {
		const runs = await Promise.all(
			[{}, { execution: loop() }].map(async (execution) => {
				const model = scriptedModel(oneTool);
				const stream = agent({ model, tools: [echo], ...execution }).stream("go", initial);
				const events = await collect(stream);
				const { state } = await stream.result;
				return { kinds: kinds(events), requests: model.requests.length, state: contentOf(state) };
			}),
		);
		expect(runs[0]).toEqual(runs[1]);
		expect(runs[0]?.requests).toBe(2);
	});

	test("the strict constructor explains what to pass instead of a model's name or an uncalled provider", () => {
		const provider = Object.assign(() => {}, { languageModel: () => {}, modalities: {} });
		Object.defineProperty(provider, "name", { value: "acme" });
		const make = (model: unknown) => (): unknown => new Agent({ model: model as never });
		expect(make("gpt-5.2")).toThrow(
			/`model` must be a model: .*Create it with a provider: `openai\("gpt-5\.2"\)`/,
		);
		expect(make(provider)).toThrow(/`model` must be a model: .*Call it with a model's id: `acme\("..."\)`/);
		for (const model of ["gpt-5.2", provider, undefined]) expect(make(model)).toThrow(TypeError);
	});

	test("params, config and other options of llm() reach the model unchanged, and names that llm() rejects are rejected [UAP-015]", async () => {
		const options = {
			params: { temperature: 0.5, nested: { a: [1] } },
			config: { baseUrl: "http://localhost", headers: { a: "b" } },
			structure: { type: "object", properties: { ok: { type: "boolean" } } },
		};
		for (const make of [llm, agent])
			expect(() => make({ model: scriptedModel([]), somethingNew: { level: 3 } } as never)).toThrow(
				expect.objectContaining({ code: "invalid_option", message: expect.stringContaining("somethingNew") }),
			);
		const direct = scriptedModel(["hi"]);
		await llm({ model: direct, ...options } as never).generate("go");
		const through = scriptedModel(["hi"]);
		await agent({ model: through, ...options }).generate("go", initial);
		const own = (request: object | undefined): object => {
			const {
				messages: _,
				signal: __,
				tools: ___,
				onRetry: ____,
				...rest
			} = request as Record<string, unknown>;
			return rest;
		};
		expect(own(through.requests[0])).toEqual(own(direct.requests[0]));
		expect(through.requests[0]).toMatchObject(options);
		expect((through.requests[0] as { params?: unknown }).params).toBe(options.params);
	});

	test("retries are also reported to the caller's own listener", async () => {
		const emitted: number[] = [];
		const failing = scriptedModel((_, call) =>
			call === 0 ? { error: new UPPError("busy", "RATE_LIMITED", "test", "llm") } : "hi",
		);
		const patient = agent({
			model: failing,
			config: { retryStrategy: { onRetry: () => 0 } },
			onRetry: ({ attempt }: { attempt: number }) => emitted.push(attempt),
		});
		expect((await patient.query("go")).response.text).toBe("hi");
		expect(emitted).toEqual([1]);
	});

	test("the system prompt is in every request and never in the history [UAP-016]", async () => {
		for (const option of [{ system: "Be brief." }, { instructions: "Be brief." }]) {
			const model = scriptedModel(oneTool);
			const { state } = await agent({ model, tools: [echo], ...option }).generate("go", initial);
			expect(model.requests.map((request) => request.system)).toEqual(["Be brief.", "Be brief."]);
			expect(JSON.stringify(state.toJSON())).not.toContain("Be brief.");
		}
	});

	test("a structure travels with the request and its parsed output is turn.data, as from llm() [UAP-017]", async () => {
		const structure = { type: "object", properties: { city: { type: "string" } } };
		const script = [{ text: '{"city":"Bern"}', data: { city: "Bern" } }];
		const direct = scriptedModel(script);
		const expected = await llm({ model: direct, structure }).generate("where?");
		const model = scriptedModel(script);
		const turn = await agent({ model, structure }).query("where?");
		expect(model.requests[0]?.structure).toEqual(direct.requests[0]?.structure);
		expect(turn.data).toEqual({ city: "Bern" });
		expect(turn.data).toEqual(expected.data);
	});

	test("an agent without a model can be created and reports the missing model in every method [UAP-018]", async () => {
		const bare = agent({});
		const missing = { code: "model_missing", message: expect.stringContaining("model") };
		await expect(bare.generate("go", initial)).rejects.toMatchObject(missing);
		await expect(bare.ask("go", initial)).rejects.toMatchObject(missing);
		await expect(bare.query("go")).rejects.toMatchObject(missing);
		const stream = bare.stream("go", initial);
		await expect(collect(stream)).rejects.toMatchObject(missing);
		await expect(stream.result).rejects.toMatchObject(missing);
		await expect(stream.result).rejects.toSatisfy(isHoldfastError);
	});

	test("an agent shows id, model, tools, system and its four methods [UAP-019]", () => {
		const model = scriptedModel([]);
		const bare = agent({ model });
		expect(bare).toMatchObject({ id: expect.any(String), model, tools: [] });
		expect(bare.system).toBeUndefined();
		const full = agent({ model, tools: [echo], system: "s" });
		expect(full.tools[0]).toBe(echo);
		expect(full.system).toBe("s");
		for (const method of ["generate", "stream", "ask", "query"] as const)
			expect(full[method]).toBeTypeOf("function");
	});

	test("an option named like a method or id is rejected, because it would hide them", () => {
		for (const option of ["session", "id", "generate"])
			expect(() => agent({ model: scriptedModel([]), [option]: 1 } as never)).toThrow(
				expect.objectContaining({ code: "invalid_option" }),
			);
	});
});

describe("an agent inside a tool", () => {
	test("the parent's stop condition and limits do not apply to agents that its tools call [UAP-148]", async () => {
		const child = agent({
			model: scriptedModel((_, call) => (call < 5 ? { toolCalls: [{ name: "echo" }] } : "five rounds later")),
			tools: [echo],
		});
		const asked: number[] = [];
		const parent = agent({
			model: scriptedModel([
				{ toolCalls: [{ name: "delegate" }] },
				{ toolCalls: [{ name: "delegate" }] },
				"never",
			]),
			tools: [anyTool("delegate", async () => (await child.query("help")).response.text)],
			toolStrategy: { maxIterations: 1 },
			strategy: { stopCondition: (state) => asked.push(state.step) > 0 },
		});
		const { turn } = await parent.generate("go", initial);
		expect(turn.toolExecutions.map((each) => each.result)).toEqual(["five rounds later"]);
		expect(asked).toEqual([1]);
	});
});
