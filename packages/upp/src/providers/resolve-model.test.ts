import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, test } from "vitest";
import { createProvider } from "../model/index.ts";
import { openai } from "./factories.ts";
import { resolveModel } from "./resolve-model.ts";

const provider = createProvider({ name: "mine", version: "1.2", modalities: {} });

function languageModel(specificationVersion: string): never {
	const model = { specificationVersion, provider: "p", modelId: "m", doGenerate() {}, doStream() {} };
	return model as never;
}

describe("a model", () => {
	test("is a reference created by a provider, with the options it was called with", () => {
		const reference = provider("m1", { a: 1 });
		expect(resolveModel(reference)).toBe(reference);
		expect(reference).toEqual({ modelId: "m1", provider, options: { a: 1 } });
		expect({ ...provider }).toEqual({ name: "mine", version: "1.2", modalities: {} });
	});

	test.each(["v2", "v3", "v4"])(
		"is an AI SDK model of specification %s, always by the same reference",
		(version) => {
			const model = languageModel(version);
			const reference = resolveModel(model);
			expect(reference).toMatchObject({ modelId: "m" });
			expect(reference.provider.name).toBe("p");
			expect(reference.provider.modalities.llm?.bind("m").modelId).toBe("m");
			expect(resolveModel(model)).toBe(reference);
		},
	);

	test("is a model of a real AI SDK provider", () => {
		expect(resolveModel(createOpenAI({ apiKey: "k" })("gpt-5.2"))).toMatchObject({ modelId: "gpt-5.2" });
	});
});

describe("an invalid model", () => {
	test("is an uncalled provider, of Holdfast or of the AI SDK", () => {
		for (const given of [provider, openai, createOpenAI({ apiKey: "k" })]) {
			expect(() => resolveModel(given as never)).toThrow(
				expect.objectContaining({ code: "provider_not_called", message: expect.stringContaining('("...")') }),
			);
		}
	});

	test.each([
		["text", "openai/gpt-5.2", 'openai("openai/gpt-5.2")'],
		["nothing", undefined, "undefined"],
		["another function", () => {}, "function"],
		["another version", languageModel("v9"), "v9"],
		["an object", {}, "object"],
	])("is %s, and the error explains what to do", (_, given, words) => {
		expect(() => resolveModel(given as never)).toThrow(
			expect.objectContaining({ code: "invalid_model", message: expect.stringContaining(words) }),
		);
	});

	test.each(["doGenerate", "doStream"])(
		"without `%s` is rejected with a message that names what is missing",
		(name) => {
			const { [name]: _, ...half } = languageModel("v3") as Record<string, unknown>;
			expect(() => resolveModel(half as never)).toThrow(`no function \`${name}\``);
		},
	);
});
