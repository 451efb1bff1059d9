// Providers that send nothing, or send endlessly: the call ends by itself, with a code that states whether to retry.
import { describe, expect, test } from "vitest";
// Otherwise loaded with the first call, which takes longer than these models may be silent.
import "../ai-sdk/calls.ts";
import type { LanguageModel, StreamPart } from "../ai-sdk/language-model-types.ts";
import { llm } from "../llm/index.ts";
import { AssistantMessage } from "../messages/index.ts";
import { createProvider, type LLMRequest, type ModelReference, type ProviderConfig } from "../model/index.ts";
import { EventStream, type StreamEvent } from "../stream/index.ts";
import { emptyUsage } from "../turn/index.ts";
import { exponentialBackoff } from "./index.ts";

const never = new Promise<never>(() => {});
const text = "x".repeat(4096);

/** What a provider sends repeatedly; `silent` never sends anything more. */
type Behaviour = "silent" | "text" | "reasoning" | "arguments" | "nothing";

const parts: Readonly<Record<Exclude<Behaviour, "silent">, object>> = {
	text: { type: "text-delta", id: "1", delta: text },
	reasoning: { type: "reasoning-delta", id: "1", delta: text },
	arguments: { type: "tool-input-delta", id: "1", delta: text },
	nothing: { type: "text-delta", id: "1", delta: "" },
};
const events: Readonly<Record<Exclude<Behaviour, "silent">, StreamEvent>> = {
	text: { type: "text_delta", index: 0, delta: { text } },
	reasoning: { type: "reasoning_delta", index: 0, delta: { text } },
	arguments: { type: "tool_call_delta", index: 0, delta: { toolCallId: "1", argumentsJson: text } },
	nothing: { type: "text_delta", index: 0, delta: { text: "" } },
};

interface Made {
	readonly model: LanguageModel | ModelReference;
	/** Number of calls made. */
	calls(): number;
	/** Number of pieces sent. */
	sent(): number;
}

function aiSdk(behaviour: Behaviour, first: readonly object[] = []): Made {
	let [calls, sent] = [0, 0];
	const begin = [
		{ type: "text-start", id: "1" },
		{ type: "reasoning-start", id: "1" },
		{ type: "tool-input-start", id: "1", toolName: "t" },
	];
	const model = {
		specificationVersion: "v3",
		provider: "p",
		modelId: "m",
		supportedUrls: {},
		doGenerate: () => {
			calls++;
			return never;
		},
		doStream: async () => {
			calls++;
			const queue = behaviour === "silent" ? [...first] : [...begin, ...first];
			const stream = new ReadableStream<StreamPart>({
				async pull(controller) {
					const next = queue.shift();
					if (next === undefined && behaviour === "silent") await never;
					if (++sent % 1024 === 0) await new Promise((resolve) => setImmediate(resolve));
					controller.enqueue((next ?? parts[behaviour as "text"]) as StreamPart);
				},
			});
			return { stream };
		},
	} as unknown as LanguageModel;
	return { model, calls: () => calls, sent: () => sent };
}

function custom(behaviour: Behaviour, first: readonly StreamEvent[] = []): Made {
	let [calls, sent] = [0, 0];
	async function* endless(): AsyncGenerator<StreamEvent> {
		yield* first;
		if (behaviour === "silent") await never;
		for (;;) {
			if (++sent % 1024 === 0) await new Promise((resolve) => setImmediate(resolve));
			yield events[behaviour as "text"];
		}
	}
	const bind = () => ({
		modelId: "m",
		capabilities: { streaming: true },
		complete: () => {
			calls++;
			return never;
		},
		stream: (_: LLMRequest) => {
			calls++;
			return { [Symbol.asyncIterator]: endless, response: never };
		},
	});
	const provider = createProvider({ name: "p", version: "1", modalities: { llm: { bind } as never } });
	return { model: provider("m"), calls: () => calls, sent: () => sent };
}

const started = { "an AI SDK model": parts.text, "a custom model": events.text };
const kinds = { "an AI SDK model": aiSdk, "a custom model": custom } as const;

async function ask({ model }: Made, how: "whole" | "streamed", config: ProviderConfig): Promise<unknown> {
	const instance = llm({ model, config });
	const turn = how === "whole" ? instance.generate("go") : instance.stream("go").turn;
	return turn.then(
		() => "answered",
		(error: unknown) => error,
	);
}

describe.each(Object.entries(kinds))("%s", (name, make) => {
	test.each(["whole", "streamed"] as const)(
		"that sends nothing fails in time, called with %s, and is retried",
		async (how) => {
			const made = make("silent");
			const retryStrategy = exponentialBackoff({ maxRetries: 1, initialDelayMs: 1 });
			expect(await ask(made, how, { silenceMs: 20, retryStrategy })).toMatchObject({
				code: "TIMEOUT",
				retryable: true,
				message: expect.stringContaining("config.silenceMs"),
			});
			expect(made.calls()).toBe(2);
		},
	);

	test("that falls silent in the middle fails, and is not retried", async () => {
		const made = make("silent", [started[name as keyof typeof started] as never]);
		const retryStrategy = exponentialBackoff({ maxRetries: 1, initialDelayMs: 1 });
		expect(await ask(made, "streamed", { silenceMs: 20, retryStrategy })).toMatchObject({ code: "TIMEOUT" });
		expect(made.calls()).toBe(1);
	});

	test.each(["text", "reasoning", "arguments"] as const)(
		"that sends endless %s is cut off",
		async (behaviour) => {
			const made = make(behaviour);
			expect(await ask(made, "streamed", { maxAnswerCharacters: 1024 * 1024 })).toMatchObject({
				code: "INVALID_RESPONSE",
				retryable: false,
				message: expect.stringContaining("config.maxAnswerCharacters"),
			});
			const sent = made.sent();
			expect(sent).toBeLessThan(300);
			await new Promise((resolve) => setImmediate(resolve));
			expect(made.sent() - sent).toBeLessThan(3);
		},
	);

	test("that sends pieces without content is cut off, by their number or as silent", async () => {
		const many = make("nothing");
		expect(await ask(many, "streamed", { maxAnswerCharacters: 1024 * 1024 })).toMatchObject({
			code: "INVALID_RESPONSE",
		});
		expect(many.sent()).toBeLessThan(70_000);
		expect(await ask(make("nothing"), "streamed", { silenceMs: 20 })).toMatchObject({ code: "TIMEOUT" });
	});
});

test("a slow answer is waited for as long as pieces arrive", async () => {
	const message = new AssistantMessage("done");
	const bind = () => ({
		modelId: "m",
		capabilities: { streaming: true },
		complete: () => never,
		stream: () =>
			new EventStream(async (stream) => {
				for (let count = 0; count < 6; count++) {
					await new Promise((resolve) => setTimeout(resolve, 15));
					stream.push({ type: "text_delta", index: 0, delta: { text: "x" } });
				}
				return { message, usage: emptyUsage(), stopReason: "stop" };
			}),
	});
	const provider = createProvider({ name: "p", version: "1", modalities: { llm: { bind } as never } });
	const made = { model: provider("m"), calls: () => 1, sent: () => 1 };
	expect(await ask(made, "streamed", { silenceMs: 60 })).toBe("answered");
});

test.each([
	["silenceMs", 0],
	["silenceMs", "1" as never],
	["maxAnswerCharacters", 0],
	["maxAnswerCharacters", Number.NaN],
])("config.%s: %s is rejected", (option, value) => {
	expect(() => llm({ model: custom("text").model, config: { [option]: value } })).toThrow(
		expect.objectContaining({ code: "invalid_option", data: { option: `config.${option}` } }),
	);
});
