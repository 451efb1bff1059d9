// What providers say of their models beyond answers: lists, capabilities, icons, what they support and what they did.
import { expect, test } from "vitest";
import { served } from "../endpoints/endpoints.fixture.ts";
import type { ProviderResponse } from "../types/index.ts";
import { oneAgent, said, say, scripted, start } from "./threads.fixture.ts";

const listed = Array.from({ length: 5 }, (_, at) => ({ id: `m-${at}`, name: `Model ${at}` }));

test("the models of a project are listed with what their providers say of them", async () => {
	const provider = scripted([], {
		getIcon: (model) => `https://icons.test/${model}.svg`,
		getModelCapabilities: async () => ({ supportsImages: false }),
		getModels: async (filter) => listed.filter(({ name }) => name.includes(filter ?? "")),
	});
	const { ask } = served(oneAgent(provider));
	expect((await ask("GET", "/api/models")).body.models).toEqual([
		{
			name: "main",
			package: null,
			model: "m-1",
			provider: "scripted",
			icon: "https://icons.test/m-1.svg",
			capabilities: { supportsImages: false },
			fallbacks: [],
		},
	]);
	const first = await ask("GET", "/api/models/main/offered?limit=3");
	expect(first.body).toEqual({ models: listed.slice(0, 3), nextCursor: "3", total: 5 });
	const rest = await ask("GET", `/api/models/main/offered?limit=3&cursor=${first.body.nextCursor}`);
	expect(rest.body).toEqual({ models: listed.slice(3), nextCursor: null, total: 5 });
	expect((await ask("GET", "/api/models/main/offered?search=4")).body.models).toEqual(listed.slice(4));
	expect((await ask("GET", "/api/models/none/offered")).status).toBe(404);
});

test("a provider with its own pagination is asked for its pages, with the program's key", async () => {
	const asked: unknown[] = [];
	const provider = scripted([], {
		getModelsPage: async (query) => {
			asked.push(query);
			return { models: listed, nextCursor: "next" };
		},
	});
	const factory = Object.assign(
		(config: Record<string, unknown>) => {
			asked.push(config);
			return provider.factory(config);
		},
		{ apiKeyEnv: "MODEL_KEY" },
	);
	const project = oneAgent(provider, { model: { provider: factory, includedProviders: ["a", "b"] } });
	const { threads } = start(project, { env: { MODEL_KEY: "key-of-program" } });
	expect(await threads.models.offered("main", { search: "x", limit: 2 })).toMatchObject({
		nextCursor: "next",
	});
	expect(asked).toEqual([
		{ apiKey: "key-of-program", includedProviders: ["a", "b"] },
		{ search: "x", limit: 2 },
	]);
	await threads.close();
});

test.each([
	["has no list", {}],
	["fails", { getModels: () => Promise.reject(new Error("key-of-program is wrong")) }],
])("a provider that %s becomes an error that explains it, and nothing else", async (_, more) => {
	const { ask } = served(oneAgent(scripted([], more)));
	const { status, body } = await ask("GET", "/api/models/main/offered");
	expect([status, body.error?.code ?? body.code]).toEqual([502, "models_not_listed"]);
	expect(JSON.stringify(body)).not.toContain("key-of-program");
});

test("images are omitted for a model without vision according to its provider, and its answers are not streamed", async () => {
	const provider = scripted(["Seen.", "Seen."], {
		getModelCapabilities: async () => ({ supportsImages: false, maxOutputTokens: 77 }),
	});
	const { threads } = start(oneAgent(provider));
	const state = await threads.createThread({ agentId: "helper" });
	await say(threads, state.threadId, "Look.");
	expect(provider.requests[0]).toMatchObject({ maxOutputTokens: 77 });
	await threads.close();
});

test.each([
	["fails", () => Promise.reject(new Error("no"))],
	["says nothing", async () => null],
])("a provider that %s about a model's capabilities is still called", async (_, getModelCapabilities) => {
	const { threads } = start(oneAgent(scripted(["Hello."], { getModelCapabilities })));
	const state = await threads.createThread({ agentId: "helper" });
	await say(threads, state.threadId, "Hi.");
	expect(await said(threads, state.threadId)).toEqual(["user: Hi.", "assistant: Hello."]);
	await threads.close();
});

test("a model that its provider does not have fails before it is called", async () => {
	const provider = scripted(["never"], { supportsModel: (model) => model !== "m-1" });
	const { threads, logs } = start(oneAgent(provider));
	const state = await threads.createThread({ agentId: "helper" });
	await say(threads, state.threadId, "Hi.");
	await threads.close();
	expect(provider.requests).toEqual([]);
	expect(logs.map(({ message }) => message).join()).toContain('does not have the model "m-1"');
});

const search = { id: "s", status: "completed" as const, actions: [{ type: "search", query: "tides" }] };
const ran = { id: "t", name: "web_fetch", status: "completed" as const };

test("a provider's own executions for an answer are in its message and in the log, with its other data", async () => {
	const summaries: unknown[] = [];
	const answer: ProviderResponse = {
		content: "High at noon.",
		finishReason: "stop",
		usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
		webSearches: [search],
		providerTools: [ran],
		metadata: { responseId: "r-1" },
	};
	const provider = scripted([], {
		generate: async () => answer,
		getResponseMetadata: async (summary) => {
			summaries.push(summary);
			return { served: "by another" };
		},
	});
	const project = oneAgent(provider, { model: { capabilities: { supportsStreaming: false } } });
	const { threads, logs } = start(project);
	const state = await threads.createThread({ agentId: "helper" });
	await say(threads, state.threadId, "When?");
	const { messages } = await state.getMessages();
	await threads.close();
	expect(messages.at(-1)).toMatchObject({
		content: "High at noon.",
		metadata: { web_searches: [search], provider_tools: [ran] },
	});
	expect(logs).toMatchObject([
		{ topic: "provider-tool", data: ran },
		{ topic: "provider-tool", data: { name: "web_search", ...search } },
		{ topic: "model", level: "info", data: { served: "by another" } },
	]);
	expect(summaries).toEqual([
		{ model: "m-1", finishReason: "stop", usage: answer.usage, responseId: "r-1", metadata: answer.metadata },
	]);
});
