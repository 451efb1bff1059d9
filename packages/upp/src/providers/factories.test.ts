import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ProviderServer, sse, startServer } from "../ai-sdk/provider-server.fixture.ts";
import { bindModel, llm } from "../llm/index.ts";
import type { ModelReference, Provider, ProviderConfig } from "../model/index.ts";
import { anthropic, google, openai, openaiCompatible } from "./factories.ts";

const chunk = {
	id: "1",
	created: 1,
	model: "m",
	choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }],
};

let server: ProviderServer;

beforeEach(async () => {
	server = await startServer([{ body: sse([JSON.stringify(chunk)], "openai") }]);
});

afterEach(async () => {
	await server.stop();
	vi.doUnmock("@ai-sdk/openai");
	vi.resetModules();
});

async function ask(model: ModelReference, config: ProviderConfig = {}): Promise<string> {
	return (await llm({ model, config }).stream("x").turn).response.text;
}

test.each<[Provider, string]>([
	[openai, "openai"],
	[anthropic, "anthropic"],
	[google, "google"],
	[openaiCompatible, "openai-compatible"],
])("%o is a provider that can be called", (provider, name) => {
	expect({ ...provider }).toMatchObject({ name, version: "1", modalities: { llm: expect.anything() } });
	expect(provider("m")).toEqual({ modelId: "m", provider });
});

describe("a model of a factory", () => {
	test("is called with the options it was created with", async () => {
		const headers = { "x-mine": "1" };
		const model = openaiCompatible("m", { name: "acme", apiKey: "secret", baseURL: server.url, headers });
		expect(await ask(model)).toBe("Hi");
		expect(server.requests[0]).toMatchObject({
			path: "/chat/completions",
			headers: { authorization: "Bearer secret", "x-mine": "1" },
			body: { model: "m" },
		});
	});

	test("is called with the call's config, and a key from each kind of source", async () => {
		const model = openai("m", { api: "chat", apiKey: "unused", baseUrl: "http://127.0.0.1:1" });
		let keys = 0;
		const sources = ["plain", () => "function", { getKey: async () => `strategy ${++keys}` }] as const;
		for (const apiKey of sources.slice(0, 2)) await ask(model, { apiKey, baseUrl: server.url });
		const binding = bindModel({ model, config: { apiKey: sources[2], baseUrl: server.url } });
		await binding.model.stream(binding.request([])).response;
		await binding.model.stream(binding.request([])).response;
		expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
			"Bearer plain",
			"Bearer function",
			"Bearer strategy 1",
			"Bearer strategy 2",
		]);
	});

	test("is created again only when its connection changes", async () => {
		const seen = new Set<unknown>();
		const fetched = (...parameters: Parameters<typeof fetch>): ReturnType<typeof fetch> => {
			seen.add(parameters[0]);
			return fetch(...parameters);
		};
		const binding = bindModel({
			model: openai("m", { api: "chat", apiKey: "key" }),
			config: { baseUrl: server.url, fetch: fetched },
		});
		await binding.model.stream(binding.request([])).response;
		await binding.model.stream(binding.request([])).response;
		expect(server.requests).toHaveLength(2);
		expect(seen).toEqual(new Set([`${server.url}/chat/completions`]));
	});

	test("uses OpenAI's Responses API unless chat is requested", async () => {
		await ask(openai("m", { apiKey: "key", baseURL: server.url })).catch(() => {});
		expect(server.requests[0]?.path).toBe("/responses");
	});

	test("without a key is AUTHENTICATION_FAILED", async () => {
		vi.stubEnv("ANTHROPIC_API_KEY", undefined);
		vi.stubEnv("ANTHROPIC_AUTH_TOKEN", undefined);
		await expect(ask(anthropic("claude"))).rejects.toMatchObject({ code: "AUTHENTICATION_FAILED" });
		vi.unstubAllEnvs();
	});

	test("whose package is not installed reports what to install", async () => {
		vi.doMock("@ai-sdk/openai", () => {
			throw new Error("Cannot find package '@ai-sdk/openai'");
		});
		await expect(ask(openai("m"))).rejects.toMatchObject({
			name: "HoldfastError",
			code: "provider_not_installed",
			message: expect.stringContaining("npm install @ai-sdk/openai"),
		});
	});

	test("of an unnamed server without an address reports it", async () => {
		await expect(ask(openaiCompatible("m"))).rejects.toMatchObject({
			code: "invalid_model",
			message: expect.stringContaining("baseURL"),
		});
	});
});
