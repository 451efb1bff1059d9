import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { lines } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { journalHost } from "../host/host-port.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import { AgentRun } from "./agent-run.ts";
import { drain } from "./drain.ts";
import { echo, eventsOf, gate, never, play, settled, shown } from "./sessions.fixture.ts";

/** An AI SDK model that answers "Yes."; records its prompts. */
function languageModel() {
	const prompts: { role: string; content: unknown }[][] = [];
	const usage = {
		inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
		outputTokens: { total: 1, text: 1, reasoning: 0 },
	};
	const model = {
		specificationVersion: "v4",
		provider: "acme.chat",
		modelId: "m",
		supportedUrls: {},
		doGenerate: () => Promise.reject(new Error("it streams")),
		doStream: async (options: { prompt: never[] }) => {
			prompts.push(options.prompt);
			const stream = new ReadableStream({
				start(controller) {
					controller.enqueue({ type: "text-start", id: "t" });
					controller.enqueue({ type: "text-delta", id: "t", delta: "Yes." });
					controller.enqueue({ type: "text-end", id: "t" });
					controller.enqueue({
						type: "finish",
						finishReason: { unified: "stop", raw: "stop" },
						usage,
					});
					controller.close();
				},
			});
			return { stream };
		},
	};
	return { model: model as never, prompts };
}

/** A journal that records the names of the called methods. */
function observed(journal: MemoryJournal): { journal: MemoryJournal; called: string[] } {
	const called: string[] = [];
	const get = (target: MemoryJournal, name: string | symbol): unknown => {
		const own = Reflect.get(target, name);
		if (typeof own !== "function") return own;
		return (...given: unknown[]) => {
			called.push(String(name));
			return own.apply(target, given);
		};
	};
	return { journal: new Proxy(journal, { get }), called };
}

describe("the options of an agent", () => {
	test.each([
		["no model", {}],
		["undefined", { model: undefined }],
		["null", { model: null }],
		["a name", { model: "gpt" }],
		["an object that is no model", { model: { name: "gpt" } }],
	])("are rejected with a TypeError that names `model` if it is %s [SES-001]", (_, options) => {
		expect(() => new Agent(options as never)).toThrow(TypeError);
		expect(() => new Agent(options as never)).toThrow(/`model`/);
	});

	test("that are valid call neither the model nor the store [SES-001]", async () => {
		const { journal, called } = observed(memoryJournal());
		const model = scriptedModel(echo);
		const agent = new Agent({ model, host: journalHost(journal), name: "a", instructions: "Be brief." });
		await settled();
		expect(called).toEqual([]);
		expect(model.requests).toEqual([]);
		await drain(await agent.send("go"));
		expect(called).not.toEqual([]);
		expect(model.requests).toHaveLength(1);
	});

	test("`instructions` are the system prompt of every call, never stored, and always those of the current agent [SES-002]", async () => {
		const journal = memoryJournal();
		const first = languageModel();
		const before = new Agent({ model: first.model, host: journalHost(journal), instructions: "Be brief." });
		await drain(await before.session("s").send("one"));
		await drain(await before.session("s").send("two"));
		const second = languageModel();
		const after = new Agent({ model: second.model, host: journalHost(journal), instructions: "Be long." });
		await drain(await after.session("s").send("three"));
		const systems = [...first.prompts, ...second.prompts].map((prompt) =>
			prompt.filter(({ role }) => role === "system").map(({ content }) => content),
		);
		expect(systems).toEqual([["Be brief."], ["Be brief."], ["Be long."]]);
		expect(second.prompts[0]?.filter(({ role }) => role === "user")).toHaveLength(3);
		const stored = JSON.stringify([await journal.read("s"), await after.session("s").state()]);
		expect(stored).toContain("Yes.");
		expect(stored).not.toMatch(/Be (brief|long)/);
	});

	test.each(["tools", "subagents"])("reject `%s` together with a function as the model [SES-004]", (name) => {
		const tool = { name: "look", description: "Looks.", run: () => 1 };
		const helper = new Agent({ name: "helper", description: "Helps.", model: scriptedModel([]) });
		const given = { tools: [tool], subagents: [helper] }[name];
		const model = () => [];
		expect(() => new Agent({ model })).not.toThrow();
		expect(() => new Agent({ model, [name]: given })).toThrow(TypeError);
		expect(() => new Agent({ model, [name]: given })).toThrow(`\`${name}\``);
	});

	test("named `llm`, as before, or by an unknown name are rejected [SES-006]", () => {
		const model = scriptedModel([]);
		expect(() => new Agent({ llm: model } as never)).toThrow(TypeError);
		expect(() => new Agent({ llm: model } as never)).toThrow(/`llm`.*`model`/);
		expect(() => new Agent({ model, llm: model } as never)).toThrow(/`llm`/);
		expect(() => new Agent({ model, temprature: 1 } as never)).toThrow(TypeError);
		expect(() => new Agent({ model, temprature: 1 } as never)).toThrow(/`temprature`/);
	});
});

describe("sessions", () => {
	test('of `agent.send` and of the key "default" are one: one history, one queue [SES-007]', async () => {
		const held = gate();
		const { agent, model } = play((_, call) => ({ text: `answer ${call}`, gate: held.promise }));
		const first = await agent.send("one");
		const second = await agent.session("default").send("two");
		const results = Promise.all([drain(first), drain(second)]);
		await settled();
		expect(model.requests).toHaveLength(1);
		held.open();
		await results;
		expect(shown(model)[1]).toEqual(["user: one", "assistant: answer 0", "user: two"]);
	});

	test("of one key are one, and those of different keys are isolated [SES-008]", async () => {
		const held = gate();
		const { agent, model } = play((_, call) => ({ text: `answer ${call}`, gate: held.promise }));
		const first = drain(await agent.session("a").send("one"));
		const second = drain(await agent.session("a").send("two"));
		const other = drain(await agent.session("b").send("apart"));
		await settled();
		expect(shown(model)).toEqual([["user: one"], ["user: apart"]]);
		held.open();
		await Promise.all([first, second, other]);
		expect(shown(model)[2]).toEqual(["user: one", "assistant: answer 0", "user: two"]);
		await drain(await agent.session("b").send("more"));
		expect(shown(model)[3]).toEqual(["user: apart", "assistant: answer 1", "user: more"]);
		expect(lines((await agent.session("a").state()).messages).join()).not.toContain("apart");
	});

	test.each([[""], [undefined], [null], [7], [{}]])(
		"reject the key %j: a TypeError, before any run exists [SES-009]",
		async (key) => {
			const { agent, journal } = play(echo);
			expect(() => agent.session(key as never)).toThrow(TypeError);
			expect(journal.list()).toEqual([]);
		},
	);
});

describe("send", () => {
	test("resolves with a run before the first model call, even if the model never answers [SES-010]", async () => {
		const { session, model } = play(() => ({ gate: never }));
		const first = await session.send("one");
		expect(first).toBeInstanceOf(AgentRun);
		expect(model.requests).toHaveLength(0);
		void eventsOf(first);
		await settled();
		expect(model.requests).toHaveLength(1);
		const second = await session.send("two");
		expect(second).toBeInstanceOf(AgentRun);
		expect(second.runId).not.toBe(first.runId);
		expect(model.requests).toHaveLength(1);
	});
});
