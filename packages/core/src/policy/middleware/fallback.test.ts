import { scriptedModel } from "@holdfast/testing";
import {
	bindModel,
	createProvider,
	HoldfastError,
	type LLMCapabilities,
	type ModelReference,
	type StreamEvent,
	UPPError,
	UserMessage,
} from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { agent } from "../../agent/agent.ts";
import { fallback } from "./fallback.ts";
import { retry } from "./retry.ts";

const refused = new UPPError("No.", "AUTHENTICATION_FAILED", "scripted", "llm", 401);
const overloaded = new UPPError("Overloaded.", "PROVIDER_ERROR", "scripted", "llm", 503);
const request = { messages: [new UserMessage("hi")], config: {} };

function failing(error: Error, modelId = "failing") {
	return scriptedModel(() => ({ error }), { modelId });
}

async function follow(model: ModelReference, events: StreamEvent[]): Promise<string> {
	const stream = bindModel({ model }).model.stream(request);
	for await (const event of stream) events.push(event);
	return (await stream.response).message.text;
}

describe("a model with fallbacks", () => {
	test("falls back in order if one fails, and starts with the first in each call", async () => {
		const first = failing(refused);
		const second = failing(new Error("broken"));
		const { model } = bindModel({
			model: fallback(
				first,
				second,
				scriptedModel(() => "third"),
			),
		});
		expect((await model.complete(request)).message.text).toBe("third");
		expect((await model.complete(request)).message.text).toBe("third");
		expect([first.requests.length, second.requests.length]).toEqual([2, 2]);
	});

	test("does not call the others while it answers", async () => {
		const other = scriptedModel(["other"]);
		const { model } = bindModel({ model: fallback(scriptedModel(["first"]), other) });
		expect((await model.complete(request)).message.text).toBe("first");
		expect(other.requests).toEqual([]);
	});

	test("fails with the last error if all fail", async () => {
		const { model } = bindModel({ model: fallback(failing(refused), failing(overloaded)) });
		await expect(model.complete(request)).rejects.toBe(overloaded);
	});

	test("falls back only for a stream that has no output yet", async () => {
		const events: StreamEvent[] = [];
		expect(await follow(fallback(failing(refused), scriptedModel(["second"])), events)).toBe("second");
		expect(events.filter(({ type }) => type === "message_start")).toHaveLength(1);
		const begun = scriptedModel([{ text: "half", error: overloaded }]);
		const other = scriptedModel(["second"]);
		await expect(follow(fallback(begun, other), [])).rejects.toBe(overloaded);
		expect(other.requests).toEqual([]);
	});

	test("notifies the caller of the fallback", async () => {
		const emitted: unknown[] = [];
		const { model } = bindModel({ model: fallback(failing(refused), scriptedModel(["second"])) });
		await model.complete({ ...request, onRetry: (info) => emitted.push(info) });
		expect(emitted).toEqual([{ attempt: 1, delayMs: 0, error: refused }]);
	});

	test("does not fall back for a cancelled call, or for one that was configured wrongly", async () => {
		const other = scriptedModel(["other"]);
		const cancelled = new UPPError("Enough.", "CANCELLED", "scripted", "llm");
		const missing = new HoldfastError("provider_not_installed", "Install it.");
		for (const error of [cancelled, missing]) {
			const { model } = bindModel({ model: fallback(failing(error), other) });
			await expect(model.complete(request)).rejects.toBe(error);
		}
		const { model } = bindModel({ model: fallback(failing(refused), other) });
		await expect(model.complete({ ...request, signal: AbortSignal.abort() })).rejects.toBe(refused);
		expect(other.requests).toEqual([]);
	});

	test("has the capabilities that all of them share", () => {
		const weak: LLMCapabilities = {
			streaming: false,
			tools: true,
			structuredOutput: false,
			imageInput: true,
			videoInput: false,
			audioInput: true,
		};
		const bound = { ...bindModel({ model: scriptedModel([]) }).model, capabilities: weak };
		const provider = createProvider({
			name: "weak",
			version: "1",
			modalities: { llm: { bind: () => bound } },
		});
		const model = fallback(scriptedModel([], { modelId: "strong" }), provider("weak"));
		expect(bindModel({ model }).model.capabilities).toEqual({ ...weak, documentInput: false });
		expect(model.modelId).toBe("strong|weak");
	});

	test("applies the config's retry strategy once, around all models", async () => {
		const asked: number[] = [];
		const retryStrategy = {
			onRetry: (_: UPPError, attempt: number) => {
				asked.push(attempt);
				return attempt < 2 ? 0 : null;
			},
		};
		const first = failing(refused);
		const second = failing(overloaded);
		const { model, request: build } = bindModel({
			model: fallback(first, second),
			config: { retryStrategy },
		});
		await expect(model.complete(build(request.messages))).rejects.toBe(overloaded);
		expect(asked).toEqual([1, 2]);
		expect([first.requests.length, second.requests.length]).toEqual([2, 2]);
		const { config } = first.requests[0] ?? {};
		expect(config?.retryStrategy?.onRetry(overloaded, 1)).toBeNull();
	});

	test("can be combined with retry, and works in an agent with tools", async () => {
		const first = failing(overloaded);
		const add = { name: "add", description: "Adds.", parameters: { type: "object" }, run: () => 3 };
		const second = scriptedModel([{ toolCalls: [{ name: "add" }] }, "It is 3."]);
		const model = fallback(retry(first, { attempts: 2, delay: 0 }), second);
		const turn = await agent({ model, tools: [add] }).query("1 + 2?");
		expect(turn.response.text).toBe("It is 3.");
		expect(first.requests).toHaveLength(4);
	});

	test("rejects invalid language models", () => {
		const none = createProvider({ name: "none", version: "1", modalities: {} });
		expect(() => fallback(scriptedModel([]), none("x"))).toThrow(/offers no language models/);
		expect(() => fallback(scriptedModel([]), none as never)).toThrow(/Call it with a model's id/);
	});
});
