// Providers both ways: theirs as models of the house, and models of the house as theirs; and what threads keep of answers.
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { llm } from "@holdfast/upp";
import { agent, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { expect, test } from "vitest";
import { defineModel, defineTool, ProviderError } from "../define/index.ts";
import { temporaryFolder } from "../files/files.fixture.ts";
import { oneAgent, type Reply, said, say, scripted, start } from "../thread/threads.fixture.ts";
import type { Message, ProviderInstance, ProviderStreamChunk } from "../types/index.ts";
import { modelProvider, providerModel } from "./index.ts";

const usage = { promptTokens: 3, completionTokens: 2, totalTokens: 5 };
const finish: ProviderStreamChunk = { type: "finish", finishReason: "stop", usage };
const look = defineTool({ description: "x", execute: async () => ({ status: "success", result: "seen" }) });

const plain = ({ role, content, tool_calls, tool_call_id, name }: Message): unknown => ({
	role,
	content,
	tool_calls,
	tool_call_id,
	name,
});

test("a reply is stored the same whether it was streamed or arrived as a whole [SA-185]", async () => {
	const stored: unknown[] = [];
	for (const supportsStreaming of [true, false]) {
		const provider = scripted([{ text: "I look.", calls: [{ name: "look", id: "c1" }] }, "Seen."]);
		const { threads, host } = start(
			oneAgent(provider, { tools: { look }, model: { capabilities: { supportsStreaming } } }),
		);
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await threads.quiet();
		const { messages } = (await (await threads.get(threadId))?.getMessages()) ?? { messages: [] };
		const facts = (await host.journal.read(threadId)).flatMap(({ fact }) =>
			fact.kind === "assistant" ? [[fact.usage, fact.stopReason]] : [],
		);
		stored.push([messages.map(plain), facts]);
		await threads.close();
	}
	expect(stored[0]).toEqual(stored[1]);
});

test("pieces of calls are joined by their ids, and the final call takes precedence [SA-186]", async () => {
	const chunks: ProviderStreamChunk[] = [
		{ type: "content-delta", delta: "Hm" },
		{ type: "tool-call-start", id: "a", name: "look" },
		{ type: "tool-call-start", id: "b", name: "look" },
		{ type: "tool-call-delta", id: "a", argumentsDelta: '{"x":' },
		{ type: "tool-call-delta", id: "b", argumentsDelta: '{"y":2}' },
		{ type: "tool-call-delta", id: "a", argumentsDelta: "1}" },
		{ type: "tool-call-done", id: "b", arguments: { y: 3 } },
		{ type: "content-delta", delta: "m." },
		{ ...finish, finishReason: "tool_calls" },
	];
	const provider = scripted([{ chunks }, "ok"]);
	const { threads } = start(oneAgent(provider, { tools: { look } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	const message = (await (await threads.get(threadId))?.getMessages())?.messages[1];
	expect(message?.content).toBe("Hmm.");
	expect(JSON.parse(message?.tool_calls ?? "")).toEqual([
		{ id: "a", type: "function", function: { name: "look", arguments: '{"x":1}' } },
		{ id: "b", type: "function", function: { name: "look", arguments: '{"y":3}' } },
	]);
	await threads.close();
});

test("a provider's data of a call is returned with it, also after a restart [SA-187]", async () => {
	const path = join(temporaryFolder(), "threads.db");
	const extra = { google: { thoughtSignature: "s1" } };
	const provider = scripted([{ calls: [{ name: "look", extra }] }, "ok", "again"]);
	const project = oneAgent(provider, { tools: { look }, prompt: { includePastTools: true } });
	const first = sqliteHost(path);
	const { threads } = start(project, { host: first });
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	await threads.close();
	await first.close();
	const second = sqliteHost(path);
	const { threads: restarted } = start(project, { host: second });
	await say(restarted, threadId, "Again");
	for (const request of provider.requests.slice(1))
		expect(request.messages[2]).toMatchObject({
			role: "assistant",
			toolCalls: [{ name: "look", extraContent: extra }],
		});
	await restarted.close();
	await second.close();
});

test("tools that the provider executed are logged, with their name as type, and none is executed locally [SA-188]", async () => {
	const executed = { name: "web_search", id: "w1", status: "completed" as const };
	const chunks: ProviderStreamChunk[] = [
		{ type: "provider-tool-done", tool: executed },
		{ type: "content-delta", delta: "Found." },
		finish,
	];
	const provider = scripted([{ chunks }]);
	const { threads, logs } = start(oneAgent(provider, { prompt: { tools: ["provider:web_search"] } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(provider.requests[0]?.tools).toMatchObject([
		{ function: { name: "web_search" }, executionMode: "provider" },
	]);
	expect(logs).toMatchObject([{ topic: "provider-tool", data: { ...executed, type: "web_search" } }]);
	expect(await said(threads, threadId)).toEqual(["user: Go", "assistant: Found."]);
	await threads.close();
});

test("a call of a provider's tool executes nothing, even if the project has a tool of that name [SA-188]", async () => {
	let ran = 0;
	const web_search = defineTool({
		description: "Is not meant.",
		execute: async () => {
			ran++;
			return { status: "success", result: "from here" };
		},
	});
	const provider = scripted([{ calls: [{ name: "web_search" }] }, "I see."]);
	const { threads } = start(
		oneAgent(provider, { tools: { web_search }, prompt: { tools: ["provider:web_search"] } }),
	);
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(await said(threads, threadId)).toEqual([
		"user: Go",
		"assistant: <web_search>",
		expect.stringMatching(/^tool: .*executed by the provider/),
		"assistant: I see.",
	]);
	expect(ran).toBe(0);
	await threads.close();
});

test("a provider with only `generate` and `stream` serves threads and agents [SA-189]", async () => {
	const bare: ProviderInstance = {
		name: "bare",
		specificationVersion: "1",
		generate: async () => ({ content: "Hello.", finishReason: "stop", usage }),
		async *stream() {
			yield { type: "content-delta", delta: "Hello." };
			yield finish;
		},
	};
	const provider = { factory: () => bare, requests: [] };
	const { threads } = start(oneAgent(provider, {}), { logRequests: true });
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect((await said(threads, threadId)).at(-1)).toBe("assistant: Hello.");
	await threads.close();
	expect((await agent({ model: providerModel(bare, "m") }).query("Hi")).response.text).toBe("Hello.");
	expect((await llm({ model: providerModel(bare, "m") }).stream("Hi").turn).response.text).toBe("Hello.");
});

test("images of a model are files of the thread, and its message refers to them [SA-190]", async () => {
	const data = Buffer.from("not really a picture").toString("base64");
	const provider = scripted([
		{ text: "Here.", images: [{ data: `data:image/png;base64,${data}`, mediaType: "image/png" }] },
		"ok",
	]);
	const { threads } = start(oneAgent(provider));
	const state = await threads.createThread({ agentId: "helper", message: "Draw" });
	await threads.quiet();
	const message = (await state.getMessages()).messages[1];
	expect(message?.content).toBe("Here.");
	expect(message?.attachments).toMatchObject([{ type: "file", mimeType: "image/png" }]);
	const bytes = await state.readFile(message?.attachments?.[0]?.path ?? "");
	expect(Buffer.from(bytes ?? new ArrayBuffer(0)).toString()).toBe("not really a picture");
	await threads.close();
});

test.each<[string, Reply]>([
	["ends before it is finished", { chunks: [{ type: "content-delta", delta: "Half" }] }],
	[
		"says that it failed",
		{
			chunks: [
				{ type: "content-delta", delta: "Half" },
				{ type: "error", error: "cut", code: "server_error" },
			],
		},
	],
	["throws", { text: "Half", error: new Error("cut") }],
])(
	"a stream that %s is a failed call, and nothing of it is stored as complete [SA-191]",
	async (_how, reply) => {
		const provider = scripted([reply]);
		const { threads, host, logs } = start(oneAgent(provider));
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await threads.quiet();
		expect(await said(threads, threadId)).toEqual(["user: Go"]);
		expect((await host.journal.read(threadId)).at(-1)?.fact).toMatchObject({
			kind: "run.ended",
			outcome: "error",
		});
		expect(logs).toMatchObject([{ level: "error", topic: "model" }]);
		await threads.close();
	},
);

test("logged requests have neither key nor authorization, whatever the provider exposes [SA-192]", async () => {
	const key = "sk-verysecret-123456";
	const provider = scripted(["ok", "ok"], {
		inspectRequest: ({ model }) => ({
			url: `https://api.example.com/${model}?key=${key}`,
			body: { model, nested: { note: `with ${key}` } },
			metadata: { headers: { Authorization: `Bearer ${key}`, "x-api-key": key, accept: "json" } },
		}),
	});
	const factory = Object.assign(() => provider.factory({}), { apiKeyEnv: "MODEL_KEY" });
	const project = oneAgent({ ...provider, factory }, {});
	const { threads, logs } = start(project, { logRequests: true, env: { MODEL_KEY: key } });
	await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	const [logged] = logs.filter(({ topic }) => topic === "request");
	expect(logged?.data).toMatchObject({ body: { model: "m-1" }, metadata: { headers: { accept: "json" } } });
	expect(JSON.stringify(logged)).not.toContain(key);
	expect(JSON.stringify(logged)).not.toMatch(/authorization/i);
	await threads.close();
});

test("a provider's model calls tools in any agent, and its failures have Holdfast codes", async () => {
	const provider = scripted([{ calls: [{ name: "look", args: { at: "it" } }] }, "Seen."]);
	const given: unknown[] = [];
	const eye = tool({
		name: "look",
		description: "Looks.",
		parameters: { type: "object", properties: { at: { type: "string" } } },
		run: (args) => {
			given.push(args);
			return "seen";
		},
	});
	const model = providerModel(provider.factory({}), "m", { providerOptions: { a: 1 } });
	const turn = await agent({ model, tools: [eye], system: "Be brief." }).query("Look.");
	expect([turn.response.text, given]).toEqual(["Seen.", [{ at: "it" }]]);
	expect(provider.requests[1]).toMatchObject({
		model: "m",
		providerOptions: { a: 1 },
		messages: [
			{ role: "system", content: "Be brief." },
			{ role: "user", content: "Look." },
			{ role: "assistant", toolCalls: [{ name: "look", arguments: { at: "it" } }] },
			{ role: "tool", toolName: "look", content: "seen" },
		],
		tools: [{ type: "function", function: { name: "look" } }],
	});
	const failing = scripted([{ error: new ProviderError("slow down", "rate_limit", 429, 1_000) }]);
	await expect(agent({ model: providerModel(failing.factory({}), "m") }).query("Hi")).rejects.toMatchObject({
		code: "RATE_LIMITED",
		retryable: true,
		retryAfterMs: 1_000,
	});
});

test("any Holdfast model is a provider of threads", async () => {
	const model = scriptedModel([
		{ reasoning: "Let me think.", text: "I look.", toolCalls: [{ name: "look" }] },
		"Seen.",
	]);
	const main = defineModel({ name: "main", model: "script", provider: modelProvider(model) });
	const provider = scripted([]);
	const { threads } = start(oneAgent(provider, { tools: { look }, model: main }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(await said(threads, threadId)).toEqual([
		"user: Go",
		"assistant: I look. <look>",
		"tool: seen",
		"assistant: Seen.",
	]);
	expect(model.requests[1]).toMatchObject({ system: "You help.", tools: [{ name: "look" }] });
	expect(model.requests[1]?.messages.map(({ type }) => type)).toEqual(["user", "assistant", "tool_result"]);
	await threads.close();
});
