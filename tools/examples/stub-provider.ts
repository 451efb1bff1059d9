// Replaces the provider packages while an example runs: the same factories, and one model without a network. It calls the
// first tool once, with arguments generated from its schema, then answers; if JSON is requested, it returns some.
import type { JSONSchema7, LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { simulateReadableStream } from "ai";
import { MockLanguageModelV4 } from "ai/test";

type StubContent =
	| { readonly type: "text"; readonly text: string }
	| {
			readonly type: "tool-call";
			readonly toolCallId: string;
			readonly toolName: string;
			readonly input: string;
	  };

const usage = {
	inputTokens: { total: 12, noCache: 12, cacheRead: 0, cacheWrite: 0 },
	outputTokens: { total: 8, text: 8, reasoning: 0 },
};

function sample(schema: JSONSchema7): unknown {
	if (schema.const !== undefined) return schema.const;
	if (schema.enum !== undefined) return schema.enum[0];
	const choice = (schema.anyOf ?? schema.oneOf)?.[0];
	if (typeof choice === "object") return sample(choice);
	const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
	switch (type) {
		case "object":
			return Object.fromEntries(
				Object.entries(schema.properties ?? {})
					.filter(([name]) => schema.required?.includes(name) ?? false)
					.map(([name, property]) => [name, typeof property === "object" ? sample(property) : null]),
			);
		case "array":
			return [];
		case "number":
		case "integer":
			return schema.minimum ?? 1;
		case "boolean":
			return true;
		case "null":
			return null;
		default:
			return "example";
	}
}

function answer(options: LanguageModelV4CallOptions): StubContent {
	const settled = options.prompt.some(({ role }) => role === "tool");
	const tool = options.tools?.find(({ type }) => type === "function");
	if (tool?.type === "function" && !settled) {
		const input = JSON.stringify(sample(tool.inputSchema));
		return { type: "tool-call", toolCallId: "call-1", toolName: tool.name, input };
	}
	const format = options.responseFormat;
	if (format?.type === "json") return { type: "text", text: JSON.stringify(sample(format.schema ?? {})) };
	return { type: "text", text: "An answer without a network." };
}

function finishReason(content: StubContent): { unified: "stop" | "tool-calls"; raw: undefined } {
	return { unified: content.type === "text" ? "stop" : "tool-calls", raw: undefined };
}

function model(modelId: string): LanguageModelV4 {
	return new MockLanguageModelV4({
		provider: "stub",
		modelId,
		doGenerate: async (options) => {
			const content = answer(options);
			return { content: [content], finishReason: finishReason(content), usage, warnings: [] };
		},
		doStream: async (options) => {
			const content = answer(options);
			const parts =
				content.type === "text"
					? [
							{ type: "text-start" as const, id: "1" },
							...content.text
								.split(/(?<= )/)
								.map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
							{ type: "text-end" as const, id: "1" },
						]
					: [content];
			return {
				stream: simulateReadableStream({
					chunks: [
						{ type: "stream-start" as const, warnings: [] },
						...parts,
						{ type: "finish" as const, usage, finishReason: finishReason(content) },
					],
					initialDelayInMs: null,
					chunkDelayInMs: null,
				}),
			};
		},
	});
}

type Provider = typeof model & Record<"languageModel" | "chat" | "responses" | "chatModel", typeof model>;

const provider: Provider = Object.assign((modelId: string) => model(modelId), {
	languageModel: model,
	chat: model,
	responses: model,
	chatModel: model,
});
const createProvider = (): Provider => provider;

export {
	createProvider as createAnthropic,
	createProvider as createGoogle,
	createProvider as createGoogleGenerativeAI,
	createProvider as createOpenAI,
	createProvider as createOpenAICompatible,
	provider as anthropic,
	provider as google,
	provider as openai,
};
