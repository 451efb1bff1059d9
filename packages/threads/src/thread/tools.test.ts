// Tools of the project: what they are given, what becomes of their results, and of calls that cannot be carried out.
import { expect, test } from "vitest";
import { z } from "zod";
import { defineHook, definePrompt, defineTool } from "../define/index.ts";
import type { PromptDefinition, ToolResult } from "../types/index.ts";
import { oneAgent, type Reply, said, say, scripted, start } from "./threads.fixture.ts";

const call = (name: string, args: unknown = {}): Reply => ({ calls: [{ name, args }] });
const noted = (log: unknown[], name: string) =>
	defineTool({
		description: "Notes that it ran.",
		execute: async () => {
			log.push(name);
			return { status: "success", result: name };
		},
	});

test("any JSON value reaches a tool unchanged [SA-039]", async () => {
	const seen: unknown[] = [];
	const keep = defineTool({
		description: "x",
		args: z.object({ value: z.unknown() }),
		execute: async (_state, { value }) => {
			seen.push(value);
			return { status: "success" };
		},
	});
	const values = [null, [1, [null, { a: false }]], { deep: { er: [1.5, "x"] } }, "text", 0];
	const provider = scripted([...values.map((value) => call("keep", { value })), "ok"]);
	const { threads } = start(oneAgent(provider, { tools: { keep } }));
	await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(seen).toEqual(values);
	await threads.close();
});

test("wrong arguments are answered with the path, and nothing runs [SA-040]", async () => {
	const ran: unknown[] = [];
	const send = defineTool({
		description: "x",
		args: z.object({ to: z.object({ mail: z.string() }) }),
		execute: async () => {
			ran.push(1);
			return { status: "success" };
		},
	});
	const provider = scripted([call("send", { to: { mail: 7 } }), "Sorry."]);
	const { threads } = start(oneAgent(provider, { tools: { send } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(ran).toEqual([]);
	const [, , result] = await said(threads, threadId);
	expect(result).toMatch(/^tool: The arguments of "send" are invalid: to\.mail: /);
	expect(provider.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: { type: "error" } });
	await threads.close();
});

test("defaults are applied, and a tool without arguments gets only the state [SA-041]", async () => {
	const seen: unknown[] = [];
	const withDefault = defineTool({
		description: "x",
		args: z.object({ unit: z.string().default("m") }),
		execute: async (_state, args) => {
			seen.push(args);
			return { status: "success" };
		},
	});
	const bare = defineTool({
		description: "x",
		execute: async (...given) => {
			seen.push(given.length, given[0].threadId);
			return { status: "success" };
		},
	});
	const provider = scripted([call("withDefault"), call("bare", { ignored: true }), "ok"]);
	const { threads } = start(oneAgent(provider, { tools: { withDefault, bare } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(seen).toEqual([{ unit: "m" }, 1, threadId]);
	await threads.close();
});

test("a tool that throws, or returns no result, has an error as its result, and the loop continues [SA-042]", async () => {
	const throws = defineTool({
		description: "x",
		execute: async () => {
			throw new Error("boom");
		},
	});
	const odd = defineTool({
		description: "x",
		execute: async () => ({ status: "maybe" }) as unknown as ToolResult,
	});
	const nothing = defineTool({ description: "x", execute: async () => undefined as unknown as ToolResult });
	const provider = scripted([{ calls: [{ name: "throws" }, { name: "odd" }, { name: "nothing" }] }, "ok"]);
	const { threads, host } = start(oneAgent(provider, { tools: { throws, odd, nothing } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	const settled = (await host.journal.read(threadId)).flatMap(({ fact }) =>
		fact.kind === "tool.settled" ? [[fact.outcome, fact.result]] : [],
	);
	expect(settled).toEqual([
		["error", { status: "error", error: "boom", stack: expect.stringContaining("boom") }],
		["error", { status: "error", error: expect.stringContaining("status") }],
		["error", { status: "error", error: expect.stringContaining("status") }],
	]);
	expect((await said(threads, threadId)).at(-1)).toBe("assistant: ok");
	await threads.close();
});

test("a call of an unknown tool, or with unreadable arguments, is answered, and the model continues [SA-043]", async () => {
	const look = noted([], "look");
	const provider = scripted([call("burn"), { calls: [{ name: "look", args: "{not json" }] }, "I see."]);
	const { threads } = start(oneAgent(provider, { tools: { look } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	const { messages } = (await (await threads.get(threadId))?.getMessages()) ?? { messages: [] };
	const results = messages.filter(({ role }) => role === "tool");
	expect(results.map(({ content, status }) => [content, status])).toEqual([
		[expect.stringMatching(/no tool "burn"/), "failed"],
		[expect.stringMatching(/not a JSON object/), "failed"],
	]);
	expect(provider.requests).toHaveLength(3);
	await threads.close();
});

test("a call of a tool that the prompt does not list is answered like that of an unknown one", async () => {
	const log: unknown[] = [];
	const provider = scripted([call("other"), "ok"]);
	const tools = { look: noted(log, "look"), other: noted(log, "other") };
	const { threads } = start(oneAgent(provider, { tools, prompt: { tools: ["look"] } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(log).toEqual([]);
	expect((await said(threads, threadId))[2]).toBe('tool: There is no tool "other".');
	await threads.close();
});

test("a tool with a missing required value reports it, and does not run [SA-045]", async () => {
	const ran: unknown[] = [];
	const execute = async (): Promise<ToolResult> => {
		ran.push(1);
		return { status: "success", result: "ran" };
	};
	const tenv = defineTool({ description: "x", tenvs: z.object({ VECTOR: z.string() }), execute });
	const variables = [{ name: "KEY", type: "secret" as const, required: true, description: "The key." }];
	const variable = defineTool({ description: "x", variables, execute });
	const calls = { calls: [{ name: "tenv" }, { name: "variable" }] };
	const provider = scripted([calls, "no", calls, "yes"]);
	const { threads } = start(oneAgent(provider, { tools: { tenv, variable } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(ran).toEqual([]);
	const state = await threads.get(threadId);
	const results = ((await state?.getMessages())?.messages ?? []).filter(({ role }) => role === "tool");
	expect(results.map(({ content, status }) => [content, status])).toEqual([
		[expect.stringContaining('"VECTOR"'), "failed"],
		[expect.stringContaining('"KEY"'), "failed"],
	]);
	await state?.setEnv("VECTOR", "v");
	await state?.setEnv("KEY", "k");
	await say(threads, threadId, "Again");
	expect(ran).toEqual([1, 1]);
	await threads.close();
});

test("`uses` names the only tools that a tool may queue or invoke; without it every visible one is allowed [SA-046]", async () => {
	const log: unknown[] = [];
	const errors: unknown[] = [];
	const limited = defineTool({
		description: "x",
		uses: ["a"],
		execute: async (state) => {
			// The compiler refuses the name; so does the runtime.
			for (const ask of ["queueTool", "invokeTool"] as const)
				await (state[ask] as (name: string) => Promise<unknown>)("b").catch((error) => errors.push(error));
			return state.invokeTool("a");
		},
	});
	const free = defineTool({ description: "x", execute: async (state) => state.invokeTool("b") });
	const provider = scripted([{ calls: [{ name: "limited" }, { name: "free" }] }, "ok"]);
	const tools = { limited, free, a: noted(log, "a"), b: noted(log, "b") };
	const { threads } = start(oneAgent(provider, { tools }));
	await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(log).toEqual(["a", "b"]);
	expect(errors).toMatchObject([
		{ code: "tool_not_declared", message: expect.stringContaining('"b"') },
		{ code: "tool_not_declared" },
	]);
	await threads.close();
});

test("a provider's tool is offered and never executed locally [SA-047]", async () => {
	const log: unknown[] = [];
	const search = defineTool({
		description: "Searches.",
		executionMode: "provider",
		executionProvider: "scripted",
		execute: async () => {
			log.push(1);
			return { status: "success" };
		},
	});
	const provider = scripted([{ calls: [{ name: "search" }, { name: "look" }] }, "ok"]);
	const tools = { search, look: noted(log, "look") };
	const { threads } = start(
		oneAgent(provider, { tools, prompt: { tools: ["search", "look", "provider:maps"] } }),
	);
	await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(log).toEqual(["look"]);
	expect(provider.requests[0]?.tools).toMatchObject([
		{ function: { name: "search" }, executionMode: "provider", executionProvider: "scripted" },
		{ function: { name: "look" } },
		{ function: { name: "maps" }, executionMode: "provider" },
	]);
	expect(provider.requests[0]?.tools?.[1]).not.toHaveProperty("executionMode");
	await threads.close();
});

test("calls start once the reply is durable, one at a time in order, and a failure skips none [SA-128]", async () => {
	const log: unknown[] = [];
	const kinds = async (state: { threadId: string }): Promise<readonly string[]> =>
		(await host.journal.read(state.threadId)).map(({ fact }) => fact.kind).slice(-3);
	const tool = (name: string, fails = false) =>
		defineTool({
			description: "x",
			execute: async (state) => {
				log.push([name, await kinds(state)]);
				await Promise.resolve();
				log.push([name, "over"]);
				return fails ? { status: "error", error: "no" } : { status: "success", result: name };
			},
		});
	const provider = scripted([{ calls: [{ name: "c" }, { name: "a" }, { name: "b" }] }, "ok"]);
	const { threads, host } = start(
		oneAgent(provider, { tools: { a: tool("a", true), b: tool("b"), c: tool("c") } }),
	);
	await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(log).toEqual([
		["c", ["decision", "assistant", "tool.started"]],
		["c", "over"],
		["a", ["tool.started", "tool.settled", "tool.started"]],
		["a", "over"],
		["b", ["tool.started", "tool.settled", "tool.started"]],
		["b", "over"],
	]);
	await threads.close();
});

test("a queued tool runs at the next drain, as an ordinary call; an invoked one runs at once [SA-138]", async () => {
	const log: unknown[] = [];
	const results: unknown[] = [];
	const ask = defineTool({
		description: "x",
		execute: async (state) => {
			await state.queueTool("later", { n: 1 });
			results.push(await state.invokeTool("now"));
			log.push("ask");
			return { status: "success", result: "asked" };
		},
	});
	const later = defineTool({
		description: "x",
		args: z.object({ n: z.number() }),
		execute: async (_state, { n }) => {
			log.push(`later ${n}`);
			return { status: "success", result: "later" };
		},
	});
	const provider = scripted([call("ask"), "ok", "and again"]);
	const { threads } = start(oneAgent(provider, { tools: { ask, later, now: noted(log, "now") } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(log).toEqual(["now", "ask", "later 1"]);
	expect(results).toEqual([{ status: "success", result: "now" }]);
	expect(await said(threads, threadId)).toEqual([
		"user: Go",
		"assistant: <ask>",
		"tool: asked",
		"assistant: <later>",
		"tool: later",
		"assistant: ok",
	]);
	// A thread without an execution starts one for it.
	await (await threads.get(threadId))?.queueTool("later", { n: 2 });
	await threads.quiet();
	expect(log.at(-1)).toBe("later 2");
	expect((await said(threads, threadId)).slice(-3)).toEqual([
		"assistant: <later>",
		"tool: later",
		"assistant: and again",
	]);
	await threads.close();
});

test("context is shared within an execution and cleared for the next [SA-075]", async () => {
	const seen: unknown[] = [];
	const put = defineTool({
		description: "x",
		execute: async ({ context }) => {
			seen.push(context.value);
			context.value = "put";
			return { status: "success" };
		},
	});
	const look = defineTool({
		description: "x",
		execute: async ({ context }) => {
			seen.push(`looked at ${context.value}`);
			return { status: "success" };
		},
	});
	const provider = scripted([
		{ calls: [{ name: "put" }, { name: "look" }] },
		call("put"),
		"ok",
		{ calls: [{ name: "look" }, { name: "put" }] },
		"ok",
	]);
	const { threads } = start(oneAgent(provider, { tools: { put, look } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	await say(threads, threadId, "Again");
	expect(seen).toEqual([undefined, "looked at put", "put", "looked at undefined", undefined]);
	await threads.close();
});

test("a prompt that is called as a tool makes one call, whose text is the result; wrong arguments make none [SA-021] [SA-024] [SA-134]", async () => {
	const paths: unknown[] = [];
	const translate = definePrompt({
		name: "translate",
		toolDescription: "Translates.",
		prompt: "You translate.",
		model: "main",
		hooks: ["where"],
		requiredSchema: z.object({ text: z.string() }),
	}) as unknown as PromptDefinition;
	const provider = scripted([
		call("translate", { text: "Guten Tag" }),
		"Good day",
		call("translate", { text: 5 }),
		"Translated.",
	]);
	const where = defineHook({
		hook: "after_system_message",
		id: "where",
		execute: async ({ execution }) => {
			paths.push(execution?.promptPath);
			return undefined;
		},
	});
	const { threads } = start(
		oneAgent(provider, {
			prompts: [translate],
			hooks: [where],
			prompt: { tools: ["translate"], hooks: ["where"] },
		}),
	);
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Please" });
	await threads.quiet();
	expect(provider.requests[1]?.messages).toEqual([
		{ role: "system", content: "You translate." },
		{ role: "user", content: '{"text":"Guten Tag"}' },
	]);
	expect(provider.requests).toHaveLength(4);
	expect(paths).toEqual([["help"], ["help", "translate"], ["help"], ["help"]]);
	expect(await said(threads, threadId)).toEqual([
		"user: Please",
		"assistant: <translate>",
		"tool: Good day",
		"assistant: <translate>",
		expect.stringMatching(/^tool: The arguments of "translate" are invalid: text/),
		"assistant: Translated.",
	]);
	const { messages } = (await (await threads.get(threadId))?.getMessages()) ?? { messages: [] };
	expect([messages[2]?.status, messages[4]?.status]).toEqual(["completed", "failed"]);
	await threads.close();
});

test.each([
	[undefined, []],
	[undefined, ["nothing"]],
	[true, []],
	[true, ["nothing"]],
] as const)(
	"a prompt that is called as a tool sees the chat only if configured: %s, with hooks %j [SA-021]",
	async (includeChat, hooks) => {
		const translate = definePrompt({
			name: "translate",
			toolDescription: "Translates.",
			prompt: "You translate.",
			model: "main",
			hooks: [...hooks],
			...(includeChat === undefined ? {} : { includeChat }),
		});
		const provider = scripted(["Welcome.", call("translate", { message: "Guten Tag" }), "Good day", "ok"]);
		const nothing = defineHook({ hook: "after_system_message", id: "nothing", execute: () => null });
		const { threads } = start(
			oneAgent(provider, {
				prompts: [translate],
				hooks: hooks.length === 0 ? [] : [nothing],
				prompt: { tools: ["translate"] },
			}),
		);
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Hello" });
		await threads.quiet();
		await say(threads, threadId, "Please");
		const chat = ["user: Hello", "assistant: Welcome.", "user: Please"];
		expect(provider.requests[2]?.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
			"system: You translate.",
			...(includeChat === true ? chat : []),
			"user: Guten Tag",
		]);
		await threads.close();
	},
);
