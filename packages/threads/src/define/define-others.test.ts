import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { ProviderFactoryWithOptions } from "../types/index.ts";
import {
	defineController,
	defineEffect,
	defineHook,
	defineModel,
	definePrompt,
	defineThreadEndpoint,
	isThreadEndpoint,
	mapReasoningLevel,
	ProviderError,
} from "./index.ts";

const whole = { name: "p", toolDescription: "x", prompt: "Be.", model: "m" };
const provider = (() => ({})) as unknown as ProviderFactoryWithOptions;

describe("definePrompt", () => {
	test.each(["name", "toolDescription", "prompt", "model"])(
		"names %s if it is missing or empty [SA-016]",
		(field) => {
			for (const value of [undefined, "", null])
				expect(() => definePrompt({ ...whole, [field]: value } as never)).toThrow(`\`${field}\``);
			expect(definePrompt(whole)).toEqual(whole);
		},
	);

	test("rejects an empty list of parts and unknown parts [SA-016]", () => {
		expect(() => definePrompt({ ...whole, prompt: [] })).toThrow("`prompt`");
		const wrong = { ...whole, prompt: [{ type: "text", content: "a" }, { type: "image" }] };
		expect(() => definePrompt(wrong as never)).toThrow("`prompt[1].type`");
		const proto = { ...whole, prompt: [{ type: "toString" }] };
		expect(() => definePrompt(proto as never)).toThrow("`prompt[0].type`");
	});
});

describe("defineModel", () => {
	const model = { name: "m", model: "x", provider };

	test.each(["name", "model"] as const)("names %s if it is missing [SA-029]", (field) => {
		expect(() => defineModel({ ...model, [field]: undefined } as never)).toThrow(`\`${field}\``);
		expect(() => defineModel({ ...model, [field]: "" })).toThrow(`\`${field}\``);
	});

	test("rejects a provider that is not a function [SA-029]", () => {
		for (const wrong of [undefined, {}, "openai"])
			expect(() => defineModel({ ...model, provider: wrong } as never)).toThrow("`provider`");
	});

	test.each(["inputPrice", "outputPrice", "cachedPrice"])(
		"rejects a negative %s and accepts zero [SA-029]",
		(price) => {
			expect(() => defineModel({ ...model, [price]: -0.01 })).toThrow(`\`${price}\``);
			expect(defineModel({ ...model, [price]: 0 })).toMatchObject({ [price]: 0 });
		},
	);

	test("checks the provider's options and reports the path of a wrong one [SA-032]", () => {
		const schema = z.object({ routing: z.object({ order: z.array(z.string()) }).optional() });
		const withOptions = Object.assign((() => ({})) as never, { providerOptions: schema });
		const define = (providerOptions: unknown): unknown =>
			defineModel({ ...model, provider: withOptions, providerOptions } as never);
		expect(() => define({ routing: { order: ["a", 1] } })).toThrow("`providerOptions.routing.order.1`");
		expect(() => define("fast")).toThrow("`providerOptions`");
		expect(define({ routing: { order: ["a"] } })).toMatchObject({
			providerOptions: { routing: { order: ["a"] } },
		});
	});
});

describe("defineHook", () => {
	const hook = { hook: "filter_messages", id: "keep_recent", execute: () => [] };

	test("rejects an unknown hook, a missing ID and a value that is not a function [SA-048]", () => {
		expect(() => defineHook({ ...hook, hook: "before_everything" } as never)).toThrow("`hook`");
		expect(() => defineHook({ ...hook, hook: "toString" } as never)).toThrow("`hook`");
		expect(() => defineHook({ ...hook, id: undefined } as never)).toThrow("`id`");
		expect(() => defineHook({ ...hook, id: "" } as never)).toThrow("`id`");
		expect(() => defineHook({ ...hook, execute: "later" } as never)).toThrow("`execute`");
		expect(defineHook(hook as never)).toEqual(hook);
	});

	test("rejects an ID that is not in snake_case", () => {
		for (const id of ["keepRecent", "keep-recent", "_keep", "keep__recent", "1st"])
			expect(() => defineHook({ ...hook, id } as never)).toThrow("`id`");
	});
});

describe("defineEffect", () => {
	test("accepts a schema or none", () => {
		const handler = (): void => {};
		expect(defineEffect("x", handler)).toEqual({ description: "x", schema: null, handler });
		const schema = z.object({ a: z.string() });
		expect(defineEffect("x", schema, handler)).toEqual({ description: "x", schema, handler });
		expect(() => defineEffect("", handler)).toThrow("`description`");
		expect(() => defineEffect("x", "y" as never)).toThrow("`handler`");
		expect(() => defineEffect("x", z.object({ a: z.date() }) as never, handler)).toThrow("`schema.a`");
	});
});

describe("endpoints", () => {
	test("a thread endpoint is recognised as one, a controller is not [SA-194]", async () => {
		const endpoint = defineThreadEndpoint((_req, _state, params) => Response.json(params));
		expect(isThreadEndpoint(endpoint)).toBe(true);
		for (const other of [defineController(() => "x"), () => "x", null, {}])
			expect(isThreadEndpoint(other)).toBe(false);
		const req = new Request("http://a/b");
		const context = { req, params: { id: "7" }, url: new URL(req.url), env: {} };
		const response = await endpoint({ ...context, state: {} as never });
		expect(await response.json()).toEqual({ id: "7" });
		expect(() => endpoint(context)).toThrow(expect.objectContaining({ code: "thread_missing" }));
	});
});

describe("models", () => {
	test("a level of reasoning becomes the nearest one that the provider has", () => {
		const levels = { 0: null, 33: "low", 66: "medium", 100: "high" };
		const asked = [0, 10, 20, 33, 50, 80, 90, 100, 1000];
		expect(asked.map((level) => mapReasoningLevel(level, levels))).toEqual([
			null,
			null,
			"low",
			"low",
			"medium",
			"medium",
			"high",
			"high",
			"high",
		]);
		expect(mapReasoningLevel(50, { 40: "a", 60: "b" })).toBe("a");
		expect(mapReasoningLevel(50, {})).toBeNull();
		expect(mapReasoningLevel(50, undefined)).toBeNull();
		expect(mapReasoningLevel(Number.NaN, levels)).toBeNull();
	});

	test("an error of a provider states whether to retry", () => {
		const codes = [
			"rate_limit",
			"auth_error",
			"invalid_request",
			"server_error",
			"timeout",
			"unknown",
		] as const;
		const retryable = codes.filter((code) => new ProviderError("x", code).retryable);
		expect(retryable).toEqual(["rate_limit", "server_error", "timeout"]);
		expect(new ProviderError("x", "rate_limit", 429, 1000)).toMatchObject({
			code: "rate_limit",
			statusCode: 429,
			retryAfter: 1000,
			name: "ProviderError",
		});
	});
});
