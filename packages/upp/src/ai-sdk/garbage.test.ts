// Whatever an AI SDK model answers, an accepted answer can be stored and read back, and every other one is an error with
// a code.
import fc from "fast-check";
import { expect, test } from "vitest";
import { changed, garbage, pathsOf } from "../../../../test/shared/garbage.fixture.ts";
import { isHoldfastError } from "../errors/index.ts";
import { llm } from "../llm/index.ts";
import { UserMessage } from "../messages/index.ts";
import { checkStreamEvent, type LLMResponse } from "../model/index.ts";
import { expectReadable } from "../model/readable.fixture.ts";
import { noRetry } from "../retry/index.ts";
import type { LanguageModel } from "./language-model-types.ts";

const acme = () => ({ acme: { id: "1" } });
const finish = () => ({
	finishReason: { unified: "stop", raw: "stop" },
	usage: { inputTokens: { total: 10, cacheRead: 5, cacheWrite: 2 }, outputTokens: { total: 4 } },
});
const both = (): object[] => [
	{ type: "tool-call", toolCallId: "s1", toolName: "search", input: '{"q":1}', providerExecuted: true },
	{ type: "tool-result", toolCallId: "s1", toolName: "search", result: ["found"], providerMetadata: acme() },
	{ type: "file", mediaType: "image/png", data: { type: "data", data: "AQI=" } },
	{ type: "file", mediaType: "application/pdf", data: { type: "url", url: "http://x.test/a" } },
	{ type: "reasoning-file", mediaType: "audio/mp3", data: new Uint8Array([3]) },
	{ type: "source", sourceType: "url", id: "u1", url: "http://x.test", title: "X" },
	{ type: "custom", kind: "acme.note", providerMetadata: acme() },
	{ type: "tool-call", toolCallId: "c1", toolName: "add", input: '{"a":1}', providerMetadata: acme() },
];
const streamed = (): object[] => [
	{ type: "stream-start", warnings: [] },
	{ type: "response-metadata", id: "r1", modelId: "m" },
	{ type: "reasoning-start", id: "0", providerMetadata: { acme: { itemId: "r1" } } },
	{ type: "reasoning-delta", id: "0", delta: "hm" },
	{ type: "reasoning-end", id: "0", providerMetadata: { acme: { signature: "s" } } },
	{ type: "text-start", id: "1" },
	{ type: "text-delta", id: "1", delta: "Hello." },
	{ type: "text-end", id: "1" },
	{ type: "tool-input-start", id: "c1", toolName: "add" },
	{ type: "tool-input-delta", id: "c1", delta: '{"a":1}' },
	...both(),
	{ type: "finish", ...finish(), providerMetadata: acme() },
];
const whole = (): object => ({
	content: [
		{ type: "reasoning", text: "hm", providerMetadata: acme() },
		{ type: "text", text: "Hello." },
		...both(),
	],
	...finish(),
	response: { id: "r1", modelId: "m" },
	warnings: [],
});

function streamOf(parts: unknown): unknown {
	return new ReadableStream({
		start(controller) {
			if (Array.isArray(parts)) for (const part of parts) controller.enqueue(part);
			else controller.enqueue(parts);
			controller.close();
		},
	});
}

const specificationVersion = fc.constantFrom("v2" as const, "v3" as const, "v4" as const);

async function expectReadableOrCoded(ask: () => Promise<LLMResponse>): Promise<void> {
	let response: LLMResponse;
	try {
		response = await ask();
	} catch (error) {
		expect(isHoldfastError(error), String(error)).toBe(true);
		expect(error).toMatchObject({ code: expect.any(String), provider: "acme" });
		return;
	}
	expectReadable(response);
}

const config = { retryStrategy: noRetry };
const messages = [new UserMessage("x")];

test("a streamed answer can be stored and read, and its events are valid, or it is an error with a code", async () => {
	const answers = fc.oneof(
		{
			weight: 5,
			arbitrary: fc
				.tuple(fc.constantFrom(...pathsOf(streamed())), garbage)
				.map(([path, value]) => ({ stream: streamOf(changed(streamed(), path, value)) })),
		},
		garbage,
		garbage.map((stream) => ({ stream })),
	);
	await fc.assert(
		fc.asyncProperty(answers, specificationVersion, async (answer, version) => {
			const model: LanguageModel = {
				specificationVersion: version,
				provider: "acme",
				modelId: "m",
				doGenerate: async () => ({}),
				doStream: async () => answer as never,
			};
			const events: unknown[] = [];
			await expectReadableOrCoded(async () => {
				const stream = llm({ model }).model.stream({ messages, config });
				stream.response.catch(() => {});
				for await (const event of stream) events.push(event);
				return stream.response;
			});
			for (const event of events) expect(checkStreamEvent(event, "acme")).toBe(event);
		}),
		{ numRuns: 2_000 },
	);
});

test("a whole answer can be stored and read, or it is an error with a code", async () => {
	const answers = fc.oneof(
		{
			weight: 5,
			arbitrary: fc
				.tuple(fc.constantFrom(...pathsOf(whole())), garbage)
				.map(([path, value]) => changed(whole(), path, value)),
		},
		garbage,
	);
	await fc.assert(
		fc.asyncProperty(answers, specificationVersion, async (answer, version) => {
			const model: LanguageModel = {
				specificationVersion: version,
				provider: "acme",
				modelId: "m",
				doGenerate: async () => answer,
				doStream: async () => ({ stream: new ReadableStream() }),
			};
			await expectReadableOrCoded(() => llm({ model }).model.complete({ messages, config }));
		}),
		{ numRuns: 2_000 },
	);
});

test("the valid answers these are derived from are accepted", async () => {
	const model: LanguageModel = {
		specificationVersion: "v4",
		provider: "acme",
		modelId: "m",
		doGenerate: async () => whole(),
		doStream: async () => ({ stream: streamOf(streamed()) as ReadableStream }),
	};
	const { model: bound } = llm({ model });
	const one = await bound.complete({ messages, config });
	const other = await bound.stream({ messages, config }).response;
	for (const { message, usage } of [one, other]) {
		expect(message.content.map(({ type }) => type)).toEqual([
			"reasoning",
			"text",
			"image",
			"document",
			"audio",
		]);
		expect(message.toolCalls).toMatchObject([{ toolCallId: "c1", arguments: { a: 1 } }]);
		expect(usage).toMatchObject({ inputTokens: 10, outputTokens: 4, totalTokens: 14 });
	}
});
