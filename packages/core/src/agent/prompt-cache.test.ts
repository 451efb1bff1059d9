import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, llm, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { createSession, execute } from "../execute/create-session.ts";
import { AgentState } from "../state/agent-state.ts";
import { strategy } from "../strategies/strategy.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./options.ts";

// biome-ignore lint/suspicious/noExplicitAny: the bodies of other companies' APIs
type Json = any;

/** Replies in order, and the bodies of the requests. */
function recording(replies: readonly Json[]) {
	const bodies: Json[] = [];
	const fetch = (async (_url: unknown, init: { body: string }) => {
		bodies.push(JSON.parse(init.body));
		return Response.json(replies[Math.min(bodies.length, replies.length) - 1]);
	}) as unknown as typeof globalThis.fetch;
	return { bodies, fetch };
}

const usage = { input_tokens: 5, output_tokens: 3 };
const said = { id: "m", type: "message", role: "assistant", model: "c", stop_reason: "end_turn", usage };
const text = { ...said, content: [{ type: "text", text: "ok" }] };
const call = (id: string) => ({
	...said,
	stop_reason: "tool_use",
	content: [{ type: "tool_use", id, name: "look", input: {} }],
});
const look = {
	name: "look",
	description: "Looks.",
	parameters: { type: "object" as const },
	run: () => "seen",
};

function anthropic(replies: readonly Json[]) {
	const { bodies, fetch } = recording(replies);
	const model = createAnthropic({ apiKey: "k", fetch })("claude-sonnet-4-5");
	return { bodies, model: model as unknown as AgentOptions["model"] };
}

function openai() {
	const message = { type: "message", role: "assistant", id: "msg" };
	const output = [{ ...message, content: [{ type: "output_text", text: "ok", annotations: [] }] }];
	const { bodies, fetch } = recording([{ id: "r", created_at: 1, model: "g", output, usage }]);
	const model = createOpenAI({ apiKey: "k", fetch }).responses("gpt-5.2");
	return { bodies, model: model as unknown as AgentOptions["model"] };
}

/** The parts of a request to Anthropic that end with a breakpoint, as `tools`, `system` or the message's index. */
function marksOf({ tools = [], system = [], messages }: Json): (string | number)[] {
	const isMarked = (part: Json): boolean => part.cache_control !== undefined;
	return [
		...(tools.some(isMarked) ? ["tools"] : []),
		...(system.some(isMarked) ? ["system"] : []),
		...messages.flatMap(({ content }: Json, at: number) =>
			Array.isArray(content) && content.some(isMarked) ? [at] : [],
		),
	];
}

const instructions = "Be brief.";

describe("the option `cache`", () => {
	test("by default sets breakpoints at the end of tools, instructions, the history and the previous history", async () => {
		const { bodies, model } = anthropic([call("a"), call("b"), text]);
		await new Agent({ model, instructions, tools: [look] }).generate("go");
		expect(bodies.map(marksOf)).toEqual([
			["tools", "system", 0],
			["tools", "system", 0, 2],
			["tools", "system", 2, 4],
		]);
		expect(bodies[0].tools[0].cache_control).toEqual({ type: "ephemeral" });
	});

	test("sends requests without breakpoints if it is off", async () => {
		const { bodies, model } = anthropic([text]);
		await new Agent({ model, instructions, tools: [look], cache: "off" }).generate("go");
		expect(bodies.map(marksOf)).toEqual([[]]);
	});

	test("places the breakpoints of a policy, with their lifetime", async () => {
		const { bodies, model } = anthropic([text]);
		const cache = { breakpoints: ["instructions"], lifetime: "1h" } as const;
		await new Agent({ model, instructions, tools: [look], cache }).generate("go");
		expect(bodies.map(marksOf)).toEqual([["system"]]);
		expect(bodies[0].system[0].cache_control).toEqual({ type: "ephemeral", ttl: "1h" });
	});

	test("ends parts of the system prompt with breakpoints instead of the tools and the instructions", async () => {
		const { bodies, model } = anthropic([call("a"), text]);
		const system = [
			{ text: "Stable.", cache: true },
			{ text: "Today.", providerOptions: { anthropic: { other: 1 } } },
			{ text: "Last." },
		] as const;
		await new Agent({ model, system, tools: [look] }).generate("go");
		expect(bodies.map(marksOf)).toEqual([
			["system", 0],
			["system", 0, 2],
		]);
		const cache_control = { type: "ephemeral" };
		expect(bodies[0].system).toEqual([
			{ type: "text", text: "Stable.", cache_control },
			{ type: "text", text: "Today." },
			{ type: "text", text: "Last." },
		]);
		const whole = anthropic([text]);
		await new Agent({ model: whole.model, system: [system[1], system[2]], tools: [look] }).generate("go");
		expect(whole.bodies.map(marksOf)).toEqual([["tools", "system", 0]]);
		expect(whole.bodies[0].system.map((part: Json) => part.cache_control)).toEqual([
			undefined,
			cache_control,
		]);
	});

	test("of a part works with llm() too, and leaves requests alone that have a breakpoint of the caller", async () => {
		const system = [{ text: "Stable.", cache: true }] as const;
		const { bodies, model } = anthropic([text]);
		await llm({ model: model as never, system }).generate("go");
		expect(bodies.map(marksOf)).toEqual([["system"]]);
		const own = { text: "Own.", providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };
		const marked = anthropic([text]);
		await new Agent({ model: marked.model, system: [own, { text: "Rest." }], tools: [look] }).generate("go");
		expect(marked.bodies.map(marksOf)).toEqual([["system"]]);
		expect(() => llm({ model: openai().model as never, system })).toThrow(
			expect.objectContaining({ code: "cache_unsupported" }),
		);
	});

	test("leaves requests unchanged if the caller has placed a breakpoint", async () => {
		const cacheControl = { type: "ephemeral" };
		const { bodies, model } = anthropic([text]);
		const agent = new Agent({ model, instructions, tools: [look] });
		const metadata = { anthropic: { cacheControl } };
		await agent.generate(new UserMessage([{ type: "text", text: "go", metadata }] as never));
		const marked = { ...look, metadata };
		await new Agent({ model, instructions, tools: [marked] }).generate("go");
		const params = { providerOptions: { anthropic: { cacheControl } } };
		await new Agent({ model, instructions, tools: [look], params }).generate("go");
		expect(bodies.map(marksOf)).toEqual([[0], ["tools"], []]);
	});

	test("ends the history before a strategy's own prompt", async () => {
		const { bodies, model } = anthropic([text]);
		const execution = strategy({
			name: "prompted",
			decide: ({ step }) =>
				step === 0 ? { kind: "model", tag: "act", step: "next", prompt: "Think first." } : { kind: "finish" },
		});
		const state = AgentState.initial().withMessages([new UserMessage("hi"), new AssistantMessage("ho")]);
		await new Agent({ model, execution }).generate("go", state);
		const [{ messages }] = bodies;
		expect(messages.at(-1).content.map(({ text, cache_control: mark }: Json) => [text, mark])).toEqual([
			["go", { type: "ephemeral" }],
			["Think first.", undefined],
		]);
	});

	test("sends a key for each session, which differs from the session's key, and none for calls without one", async () => {
		const model = scriptedModel(() => "ok", { promptCache: "key" });
		const agent = new Agent({ model, instructions });
		for (const key of ["alice@example.org", "bob@example.org", "alice@example.org"])
			await (await agent.session(key).send("go")).result();
		await agent.generate("go");
		const keys = model.requests.map(({ cache }) => cache?.key);
		expect(keys[0]).toMatch(/^holdfast-[0-9a-f]+$/);
		expect(keys[1]).not.toBe(keys[0]);
		expect(keys.slice(2)).toEqual([keys[0], undefined]);
	});

	test("applies to sessions of createSession()", async () => {
		const model = scriptedModel(() => "ok", { promptCache: "key" });
		for (const cache of ["auto", "off", { key: "mine" }] as const)
			await execute(createSession("s", {}, { model, cache }), "go").result();
		const keys = model.requests.map(({ cache }) => cache?.key);
		expect(keys).toEqual([expect.stringMatching(/^holdfast-/), undefined, "mine"]);
	});

	test("sends the key and the lifetime of a policy to OpenAI", async () => {
		const { bodies, model } = openai();
		await new Agent({ model, cache: { key: "mine", lifetime: "24h" } }).generate("go");
		await new Agent({ model, cache: "off" }).generate("go");
		expect(bodies.map(({ prompt_cache_key: key }) => key)).toEqual(["mine", undefined]);
		expect(bodies[0].prompt_cache_retention).toBe("24h");
	});

	test.each([
		["a policy", "has no prompt cache", undefined, { lifetime: "5m" }],
		["breakpoints", "has no breakpoints", "key", { breakpoints: ["tail"] }],
		["a key", "has no keys", "breakpoints", { key: "k" }],
		["a lifetime that only others have", "24h", "breakpoints", { lifetime: "24h" }],
		["a lifetime that only others have", "5m", "key", { lifetime: "5m" }],
	] as const)(
		"rejects %s that has no effect, before anything is sent: %s",
		async (_, why, promptCache, cache) => {
			const model = scriptedModel(["ok"], promptCache === undefined ? {} : { promptCache });
			const agent = new Agent({ model, cache });
			await expect(agent.generate("go")).rejects.toMatchObject({ code: "cache_unsupported" });
			await expect(agent.generate("go")).rejects.toThrow(why);
			expect(model.requests).toEqual([]);
		},
	);

	test.each([
		["on"],
		[true],
		[null],
		[[]],
		[{ breakpoints: [] }],
		[{ breakpoints: ["all"] }],
		[{ lifetime: "2h" }],
		[{ key: "" }],
		[{ ttl: "5m" }],
	])("rejects the value %j", (cache) => {
		const model = scriptedModel(["ok"]);
		expect(() => new Agent({ model, cache: cache as never })).toThrow(
			expect.objectContaining({ code: "invalid_option" }),
		);
	});

	test("is rejected for a model that is a function, and for a strategy that calls its model itself", () => {
		const own = { name: "own", execute: async () => ({}) as never, stream: () => ({}) as never };
		expect(() => new Agent({ model: async () => [], cache: "off" } as never)).toThrow(/`cache`/);
		expect(() => new Agent({ model: scriptedModel([]), execution: own, cache: "off" })).toThrow(/`cache`/);
	});
});
