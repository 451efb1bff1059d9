// An agent that talks to people: its turns, its tools, its limits.
import { expect, test } from "vitest";
import { z } from "zod";
import { defineModel, definePrompt, defineTool, ProviderError } from "../define/index.ts";
import type { AgentDefinition } from "../types/index.ts";
import {
	oneAgent,
	type Reply,
	type ScriptedProvider,
	said,
	say,
	scripted,
	start,
} from "./threads.fixture.ts";

const call = (name: string, args: unknown = {}): Reply => ({ calls: [{ name, args }] });
const answers = (result: string) =>
	defineTool({ description: "Answers.", execute: async () => ({ status: "success", result }) });
const fails = defineTool({ description: "Fails.", execute: async () => ({ status: "error", error: "no" }) });
const sideA = (more: Partial<AgentDefinition["sideA"]>): { agent: Partial<AgentDefinition> } => ({
	agent: { sideA: { prompt: "help", ...more } },
});

const add = defineTool({
	description: "Adds.",
	args: z.object({ a: z.number(), b: z.number().default(1) }),
	execute: async (_state, { a, b }) => ({ status: "success", result: String(a + b) }),
});

test("a session is one turn, and no model is called until new work arrives [SA-003]", async () => {
	const provider = scripted(["Hello.", "Again."]);
	const { threads, host } = start(oneAgent(provider));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Hi" });
	await threads.quiet();
	expect(provider.requests).toHaveLength(1);
	const ended = (await host.journal.read(threadId)).at(-1)?.fact;
	expect(ended).toMatchObject({ kind: "run.ended", outcome: "completed" });
	expect(provider.requests[0]?.messages).toEqual([
		{ role: "system", content: "You help." },
		{ role: "user", content: "Hi" },
	]);
	await say(threads, threadId, "Once more");
	expect(provider.requests).toHaveLength(2);
	expect(await said(threads, threadId)).toEqual([
		"user: Hi",
		"assistant: Hello.",
		"user: Once more",
		"assistant: Again.",
	]);
	await threads.close();
});

test("text ends the turn, text with calls does not [SA-006]", async () => {
	const provider = scripted([
		{ text: "Let me see.", calls: [{ name: "add", args: { a: 1, b: 2 } }] },
		"Three.",
	]);
	const { threads } = start(oneAgent(provider, { tools: { add } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "1 + 2?" });
	await threads.quiet();
	expect(await said(threads, threadId)).toEqual([
		"user: 1 + 2?",
		"assistant: Let me see. <add>",
		"tool: 3",
		"assistant: Three.",
	]);
	expect(provider.requests).toHaveLength(2);
	expect(provider.requests[1]?.messages.slice(2)).toEqual([
		{
			role: "assistant",
			content: "Let me see.",
			toolCalls: [{ id: "call_1_0", name: "add", arguments: { a: 1, b: 2 } }],
		},
		{ role: "tool", toolCallId: "call_1_0", toolName: "add", content: "3" },
	]);
	await threads.close();
});

test("with stopOnResponse false a text is followed by another call, until the stop tool [SA-007] [SA-008]", async () => {
	const provider = scripted(["Thinking.", "Still thinking.", call("done"), "never"]);
	const tools = { done: answers("the end") };
	const { threads } = start(
		oneAgent(provider, { tools, ...sideA({ stopOnResponse: false, stopTool: "done" }) }),
	);
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(provider.requests).toHaveLength(3);
	expect(await said(threads, threadId)).toEqual([
		"user: Go",
		"assistant: Thinking.",
		"assistant: Still thinking.",
		"assistant: <done>",
		"tool: the end",
	]);
	await threads.close();
});

test("a text that ends no turn is followed by another call until maxSteps or stop() [SA-007]", async () => {
	const halt = defineTool({
		description: "Stops.",
		execute: async ({ execution }) => {
			execution?.stop();
			return { status: "success", result: "halted" };
		},
	});
	for (const [replies, maxSteps, last] of [
		[["One.", "Two.", "Three.", "never"], 3, "assistant: Three."],
		[["One.", "Two.", call("halt"), "never"], undefined, "tool: halted"],
	] as const) {
		const provider = scripted(replies);
		const side = { stopOnResponse: false, ...(maxSteps === undefined ? {} : { maxSteps }) };
		const { threads, logs } = start(oneAgent(provider, { tools: { halt }, ...sideA(side) }));
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await threads.quiet();
		expect(provider.requests).toHaveLength(3);
		expect((await said(threads, threadId)).at(-1)).toBe(last);
		expect(logs).toEqual([]);
		await threads.close();
	}
});

test("a stop tool that failed ends nothing", async () => {
	const provider = scripted([call("done"), "I could not."]);
	const { threads } = start(oneAgent(provider, { tools: { done: fails }, ...sideA({ stopTool: "done" }) }));
	await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(provider.requests).toHaveLength(2);
	await threads.close();
});

test("maxSteps ends a turn after that many calls, with the results of the last one stored [SA-010]", async () => {
	const provider = scripted([call("look"), call("look"), call("look"), "never"]);
	const { threads, logs } = start(
		oneAgent(provider, { tools: { look: answers("seen") }, ...sideA({ maxSteps: 3 }) }),
	);
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(provider.requests).toHaveLength(3);
	expect((await said(threads, threadId)).slice(-2)).toEqual(["assistant: <look>", "tool: seen"]);
	expect(logs).toEqual([]);
	await threads.close();
});

test("a turn without a limit ends at the runtime's limit, with the reason logged [SA-139]", async () => {
	const provider = scripted(() => call("look"));
	const { threads, host, logs } = start(oneAgent(provider, { tools: { look: answers("seen") } }), {
		stepCap: 7,
	});
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(provider.requests).toHaveLength(7);
	const entries = await host.journal.read(threadId);
	const notes = entries.flatMap(({ fact }) => (fact.kind === "note" ? [fact.value] : []));
	expect(notes).toMatchObject([{ limit: 7, reason: expect.stringContaining("limit") }]);
	expect(logs).toMatchObject([{ threadId, level: "warn", topic: "turn" }]);
	await threads.close();
	// The one that is documented.
	const endless = scripted(() => call("look"));
	const plain = start(oneAgent(endless, { tools: { look: answers("seen") } }));
	await plain.threads.createThread({ agentId: "helper", message: "Go" });
	await plain.threads.quiet();
	expect(endless.requests).toHaveLength(250);
	expect(plain.logs).toMatchObject([{ level: "warn", topic: "turn", data: { limit: 250 } }]);
	await plain.threads.close();
});

test("a tool that reports on the session sets the status and ends nothing [SA-013]", async () => {
	const provider = scripted([call("report", { text: "halfway" }), "Done."]);
	const report = defineTool({
		description: "Reports.",
		args: z.object({ text: z.string() }),
		execute: async () => ({ status: "success", result: "ok" }),
	});
	const status = { name: "report", messageProperty: "text" };
	const { threads } = start(oneAgent(provider, { tools: { report }, ...sideA({ sessionStatus: status }) }));
	const events: unknown[] = [];
	const { threadId } = await threads.createThread({ agentId: "helper" });
	threads.subscribe(threadId, ({ event, data }) => events.push([event, data]));
	await say(threads, threadId, "Go");
	expect(provider.requests).toHaveLength(2);
	expect((await threads.record(threadId))?.status).toBe("halfway");
	expect(events).toEqual([["status", { status: "halfway" }]]);
	await threads.close();
});

test("a required variable that is missing everywhere fails the run before any model is called [SA-025]", async () => {
	const provider = scripted(["Hello."]);
	const text = { type: "text" as const, description: "Where." };
	const variables = [
		{ ...text, name: "STREET", required: false },
		{ ...text, name: "REGION", required: true },
	];
	const project = oneAgent(provider, { prompt: { variables } });
	const { threads, host } = start(project);
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(provider.requests).toEqual([]);
	const ended = (await host.journal.read(threadId)).at(-1)?.fact;
	expect(ended).toMatchObject({
		kind: "run.ended",
		outcome: "error",
		error: { code: "env_not_set", message: expect.stringContaining('"REGION"') },
	});
	await (await threads.get(threadId))?.setEnv("REGION", "north");
	await say(threads, threadId, "Again");
	expect(provider.requests).toHaveLength(1);
	await threads.close();
});

test("parts of a prompt are rendered in order with nothing between; an unknown value fails before any call", async () => {
	const provider = scripted(["Hello."]);
	const rules = definePrompt({ name: "rules", toolDescription: "x", prompt: "Be kind.", model: "main" });
	const prompt = [
		{ type: "text" as const, content: "You help " },
		{ type: "env" as const, property: "WHO" },
		{ type: "include" as const, prompt: "rules" },
	];
	const { threads } = start(oneAgent(provider, { prompt: { prompt }, prompts: [rules] }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(provider.requests).toEqual([]);
	await (await threads.get(threadId))?.setEnv("WHO", "Ann. ", { type: "text" });
	await say(threads, threadId, "Again");
	expect(provider.requests[0]?.messages[0]).toEqual({ role: "system", content: "You help Ann. Be kind." });
	await threads.close();
});

test("calls of earlier turns are omitted, unless the prompt includes them [SA-022]", async () => {
	for (const includePastTools of [undefined, true]) {
		const provider = scripted([call("look"), "One.", { text: "Hm.", calls: [{ name: "look" }] }, "Two."]);
		const prompt = includePastTools === undefined ? {} : { includePastTools };
		const { threads } = start(oneAgent(provider, { tools: { look: answers("seen") }, prompt }));
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await threads.quiet();
		await say(threads, threadId, "Again");
		const roles = provider.requests.map(({ messages }) => messages.map(({ role }) => role).join(" "));
		const past = includePastTools === true ? "assistant tool " : "";
		expect(roles).toEqual([
			"system user",
			"system user assistant tool",
			`system user ${past}assistant user`,
			`system user ${past}assistant user assistant tool`,
		]);
		await threads.close();
	}
});

test("a prompt's settings for calls reach the provider, and its options take precedence over the model's [SA-023] [SA-028]", async () => {
	const provider = scripted(["a"]);
	const { threads } = start(
		oneAgent(provider, {
			prompt: { providerOptions: { a: 1, b: 2 }, reasoning: { effort: "high", maxTokens: 5 } },
			model: { providerOptions: { b: 0, c: 3 } },
		}),
	);
	await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(provider.requests[0]).toMatchObject({
		model: "m-1",
		toolChoice: "auto",
		parallelToolCalls: false,
		providerOptions: { a: 1, b: 2, c: 3 },
		reasoning: { effort: "high", maxTokens: 5, level: 75 },
	});
	await threads.close();
	const other = scripted(["a"]);
	const required = oneAgent(other, { prompt: { toolChoice: "required", parallelToolCalls: true } });
	const { threads: more } = start(required);
	await more.createThread({ agentId: "helper", message: "Go" });
	await more.quiet();
	expect(other.requests[0]).toMatchObject({ toolChoice: "required", parallelToolCalls: true });
	await more.close();
});

test("models are tried in order, each once, after temporary failures; otherwise the error is the step's [SA-030] [SA-031]", async () => {
	const limited = new ProviderError("slow down", "rate_limit");
	const down = new ProviderError("down", "server_error");
	const run = async (...outcomes: (Error | string)[]): Promise<unknown> => {
		const asked: string[] = [];
		const [first, second, third] = outcomes.map((outcome, at) =>
			scripted(({ model }) => {
				asked.push(model);
				return typeof outcome === "string" ? `${outcome} ${at}` : { error: outcome };
			}),
		) as [ScriptedProvider, ScriptedProvider, ScriptedProvider];
		const models = [
			defineModel({ name: "a_third", provider: third.factory, model: "m-3" }),
			defineModel({ name: "second", provider: second.factory, model: "m-2" }),
		];
		const fallbacks = ["second", "second", "main", "a_third"];
		const { threads, host } = start(oneAgent(first, { model: { fallbacks }, models }));
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await threads.quiet();
		const ended = (await host.journal.read(threadId)).at(-1)?.fact;
		const lines = await said(threads, threadId);
		await threads.close();
		return [asked, (ended?.kind === "run.ended" && ended.error?.message) || lines.at(-1)];
	};
	expect(await run("Here.", "Here.", "Here.")).toEqual([["m-1"], "assistant: Here. 0"]);
	expect(await run(limited, "Here.", "Here.")).toEqual([["m-1", "m-2"], "assistant: Here. 1"]);
	expect(await run(limited, down, "Here.")).toEqual([["m-1", "m-2", "m-3"], "assistant: Here. 2"]);
	expect(await run(limited, limited, down)).toEqual([["m-1", "m-2", "m-3"], "down"]);
	const invalid = new ProviderError("bad", "invalid_request");
	expect(await run(invalid, "Here.", "Here.")).toEqual([["m-1"], "bad"]);
	expect(await run(limited, invalid, "Here.")).toEqual([["m-1", "m-2"], "bad"]);
});

test("a stopped call is not made to another model [SA-031]", async () => {
	const asked = Promise.withResolvers<void>();
	const first = scripted(() => {
		asked.resolve();
		return { gate: new Promise(() => {}) };
	});
	const spare = scripted(["never"]);
	const models = [defineModel({ name: "spare", provider: spare.factory, model: "m-2" })];
	const { threads } = start(oneAgent(first, { model: { fallbacks: ["spare"] }, models }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await asked.promise;
	await threads.stop(threadId);
	await threads.quiet();
	expect([first.requests.length, spare.requests.length]).toEqual([1, 0]);
	expect(await said(threads, threadId)).toEqual(["user: Go"]);
	await threads.close();
});

test("a provider that fails ends the execution, is logged, and the next message runs [SA-137]", async () => {
	const provider = scripted([{ error: new ProviderError("down", "server_error") }, "Back."]);
	const { threads, logs, host } = start(oneAgent(provider));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(logs).toMatchObject([{ level: "error", topic: "model", message: expect.stringContaining("down") }]);
	expect((await host.journal.head(threadId))?.openRunId).toBeUndefined();
	await say(threads, threadId, "Again");
	expect(await said(threads, threadId)).toEqual(["user: Go", "user: Again", "assistant: Back."]);
	await threads.close();
});
