// Providers of a project that are silent, or that send without end: the answer ends by itself, in every kind of call.
import { memoryHost } from "holdfast";
import { describe, expect, test } from "vitest";
import { defineModel, definePrompt } from "../define/index.ts";
import type {
	PromptDefinition,
	ProviderFactory,
	ProviderRequest,
	ProviderStreamChunk,
} from "../types/index.ts";
import { oneAgent, said, scripted, start } from "./threads.fixture.ts";

const never = new Promise<never>(() => {});
const text = "x".repeat(1_000);

/** What a provider does. */
type Behaviour = "silent" | "silent in the middle" | "endless text" | "endless arguments" | "endless images";

interface Odd {
	readonly factory: ProviderFactory;
	readonly requests: ProviderRequest[];
	sent(): number;
}

function odd(behaviour: Behaviour, streams: boolean): Odd {
	const requests: ProviderRequest[] = [];
	let sent = 0;
	async function* stream(request: ProviderRequest): AsyncGenerator<ProviderStreamChunk> {
		requests.push(request);
		if (behaviour === "silent") await never;
		if (behaviour === "endless arguments") yield { type: "tool-call-start", id: "c", name: "look" };
		for (;;) {
			sent++;
			// A provider gives other work its turn while it waits for the network.
			await new Promise((passed) => setImmediate(passed));
			if (behaviour === "endless arguments") yield { type: "tool-call-delta", id: "c", argumentsDelta: text };
			else if (behaviour === "endless images")
				yield { type: "image-done", index: 0, image: { data: text } as never };
			else yield { type: "content-delta", delta: text };
			if (behaviour === "silent in the middle") await never;
		}
	}
	const provider = {
		name: "odd",
		specificationVersion: "1" as const,
		stream,
		async generate(request: ProviderRequest) {
			requests.push(request);
			if (behaviour === "silent") await never;
			return { content: text.repeat(100), finishReason: "stop" as const, usage: {} };
		},
		getModelCapabilities: () => ({ supportsStreaming: streams }),
	};
	return { factory: () => provider as never, requests, sent: () => sent };
}

const limits = { silenceMs: 30, maxAnswerCharacters: 20_000 };
const timeout = { code: "TIMEOUT" };
const tooLarge = { code: "INVALID_RESPONSE" };

describe.each([
	["silent", true, timeout],
	["silent", false, timeout],
	["silent in the middle", true, timeout],
	["endless text", true, tooLarge],
	["endless text", false, tooLarge],
	["endless arguments", true, tooLarge],
	["endless images", true, tooLarge],
] as const)("a provider that is %s, streamed: %s", (behaviour, streams, error) => {
	test("fails the execution, is stopped, and the next message runs", async () => {
		const provider = odd(behaviour, streams);
		const host = memoryHost();
		const project = oneAgent({ factory: provider.factory } as never);
		const { threads } = start(project, { host, config: limits });
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await threads.quiet();
		const end = (await host.journal.read(threadId)).at(-1)?.fact;
		expect(end).toMatchObject({ kind: "run.ended", outcome: "error", error });
		expect(provider.requests[0]?.signal?.aborted).toBe(true);
		const sent = provider.sent();
		await new Promise((passed) => setImmediate(passed));
		expect(provider.sent() - sent).toBeLessThanOrEqual(1);
		await threads.queueMessage(threadId, { content: "Again" });
		await threads.quiet();
		expect(provider.requests).toHaveLength(2);
		await threads.close();
	});
});

test("a silent provider is replaced by its fallback, unless some of its answer was emitted", async () => {
	const spare = scripted(["Spare."]);
	const models = [defineModel({ name: "spare", provider: spare.factory, model: "m-2" })];
	for (const behaviour of ["silent", "silent in the middle"] as const) {
		const provider = { factory: odd(behaviour, true).factory } as never;
		const project = oneAgent(provider, { model: { fallbacks: ["spare"] }, models });
		const { threads } = start(project, { config: limits });
		const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
		await threads.quiet();
		const lines = await said(threads, threadId);
		expect(lines.at(-1)).toBe(behaviour === "silent" ? "assistant: Spare." : "user: Go");
		await threads.close();
	}
});

test("the model of a prompt that is called as a tool has the same limits", async () => {
	const provider = odd("silent", true);
	const translate = definePrompt({
		name: "translate",
		toolDescription: "Translates.",
		prompt: "Translate.",
		model: "odd",
	}) as unknown as PromptDefinition;
	const main = scripted([{ calls: [{ name: "translate", args: { message: "Hi" } }] }, "It failed."]);
	const models = [defineModel({ name: "odd", provider: provider.factory, model: "m-2" })];
	const project = oneAgent(main, { models, prompts: [translate], prompt: { tools: ["translate"] } });
	const { threads } = start(project, { config: limits });
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect((await said(threads, threadId)).at(-1)).toBe("assistant: It failed.");
	expect(provider.requests).toHaveLength(1);
	await threads.close();
});

test.each([
	[{ silenceMs: 0 }],
	[{ silenceMs: Number.NaN }],
	[{ silenceMs: "5" }],
	[{ maxAnswerCharacters: 0 }],
	[{ maxAnswerCharacters: Number.NaN }],
	[{ silence: 5 }],
	[5],
])("invalid limits are rejected: %j", (config) => {
	expect(() => start(oneAgent(scripted([])), { config: config as never })).toThrow(
		expect.objectContaining({ code: "invalid_option" }),
	);
});
