import { describe, expect, test, vi } from "vitest";
import { ErrorCode, UPPError } from "../errors/index.ts";
import { UserMessage } from "../messages/index.ts";
import type { LLMRequest, ProviderConfig, RetryInfo } from "../model/index.ts";
import { type ScriptedAnswer, scriptedModel } from "../model/scripted-model.fixture.ts";
import { runAttempts } from "./attempts.ts";
import { exponentialBackoff, noRetry } from "./backoff.ts";
import { retryingModel } from "./retrying-model.ts";

const overloaded = new UPPError("Overloaded.", ErrorCode.PROVIDER_ERROR, "scripted", "llm", 503);
const refused = new UPPError("No.", ErrorCode.AUTHENTICATION_FAILED, "scripted", "llm", 401);

function limited(retryAfterMs: number): UPPError {
	const error = new UPPError("Slow down.", ErrorCode.RATE_LIMITED, "scripted", "llm", 429);
	error.retryAfterMs = retryAfterMs;
	return error;
}

describe("exponential backoff", () => {
	test("waits twice as long each time, and gives up after its retries", () => {
		const strategy = exponentialBackoff({ maxRetries: 4, maxDelayMs: 1500 });
		expect([1, 2, 3, 4, 5].map((attempt) => strategy.onRetry(overloaded, attempt))).toEqual([
			500,
			1000,
			1500,
			1500,
			null,
		]);
	});

	test("waits as long as the provider requests, unless that is too long", () => {
		const strategy = exponentialBackoff();
		expect(strategy.onRetry(limited(34_400), 1)).toBe(34_400);
		expect(strategy.onRetry(limited(0), 1)).toBe(0);
		expect(strategy.onRetry(limited(60_001), 1)).toBeNull();
	});

	test("does not retry permanent errors", () => {
		expect(exponentialBackoff().onRetry(refused, 1)).toBeNull();
		expect(noRetry.onRetry(overloaded, 1)).toBeNull();
	});

	test("spreads waits if it has randomness", () => {
		expect(exponentialBackoff({ random: () => 1 }).onRetry(overloaded, 1)).toBe(250);
	});
});

function request(config: ProviderConfig, extra: Partial<LLMRequest> = {}): LLMRequest {
	return { messages: [new UserMessage("hi")], config, ...extra };
}

function bound(answers: readonly ScriptedAnswer[], slept: number[]) {
	const scripted = scriptedModel(...answers);
	const model = scripted.reference.provider.modalities.llm?.bind("model");
	if (model === undefined) throw new Error("no model");
	const sleep = async (milliseconds: number): Promise<void> => void slept.push(milliseconds);
	return { model: retryingModel(model, "scripted", sleep), requests: scripted.requests };
}

describe("a model with a retry strategy", () => {
	test("is retried after the wait, and its caller is notified", async () => {
		const slept: number[] = [];
		const retries: RetryInfo[] = [];
		const { model, requests } = bound([{ error: overloaded }, { error: limited(7) }, { text: "ok" }], slept);
		const config = { retryStrategy: exponentialBackoff() };
		const response = await model.complete(request(config, { onRetry: (info) => void retries.push(info) }));
		expect(response.message.text).toBe("ok");
		expect(slept).toEqual([500, 7]);
		expect(requests).toHaveLength(3);
		expect(retries).toEqual([
			{ attempt: 1, delayMs: 500, error: overloaded },
			{ attempt: 2, delayMs: 7, error: expect.objectContaining({ code: "RATE_LIMITED" }) },
		]);
	});

	test("is retried in a stream before its first event, and not after", async () => {
		const slept: number[] = [];
		const config = { retryStrategy: exponentialBackoff() };
		const early = bound([{ error: overloaded }, { text: "ok" }], slept);
		expect((await early.model.stream(request(config)).response).message.text).toBe("ok");
		expect(early.requests).toHaveLength(2);
		const late = bound([{ text: "half an", errorAfterText: overloaded }], slept);
		const stream = late.model.stream(request(config));
		const events: unknown[] = [];
		const read = (async () => {
			for await (const event of stream) events.push(event.delta.text);
		})();
		await expect(read).rejects.toBe(overloaded);
		await expect(stream.response).rejects.toBe(overloaded);
		expect(events).toEqual([undefined, "half ", "an"]);
		expect(late.requests).toHaveLength(1);
	});

	test("fails with the last error when the strategy gives up", async () => {
		const { model, requests } = bound([{ error: overloaded }], []);
		await expect(model.complete(request({ retryStrategy: exponentialBackoff() }))).rejects.toBe(overloaded);
		expect(requests).toHaveLength(3);
	});

	test("waits before each request if the strategy requires it, and resets it after a success", async () => {
		const slept: number[] = [];
		let resets = 0;
		const retryStrategy = { ...exponentialBackoff(), beforeRequest: () => 20, reset: () => void resets++ };
		await bound([{ error: overloaded }, { text: "ok" }], slept).model.complete(request({ retryStrategy }));
		expect(slept).toEqual([20, 500, 20]);
		expect(resets).toBe(1);
	});

	test("does not compute messages that are not read", async () => {
		const { model } = bound([{ text: "ok" }], []);
		let computed = 0;
		const lazy = request({ retryStrategy: noRetry });
		Object.defineProperty(lazy, "messages", { enumerable: true, configurable: true, get: () => computed++ });
		await model.complete(lazy);
		expect(computed).toBe(0);
	});
});

describe("a call", () => {
	const context = {
		provider: "p",
		defaultStrategy: exponentialBackoff({ initialDelayMs: 60_000, maxDelayMs: 60_000 }),
		toError: () => overloaded,
	};

	test("that waits for its retry ends at once when it is cancelled", async () => {
		const controller = new AbortController();
		const waiting = Promise.withResolvers<void>();
		const given = request({}, { signal: controller.signal, onRetry: () => waiting.resolve() });
		const run = async (): Promise<never> => {
			throw overloaded;
		};
		const outcome = runAttempts(given, context, { run, started: () => false });
		await waiting.promise;
		controller.abort("enough");
		await expect(outcome).rejects.toMatchObject({ code: "CANCELLED", cause: "enough" });
	});

	test("to a model that ignores its signal ends at once when it is cancelled, before or after the start", async () => {
		const controller = new AbortController();
		let signal: AbortSignal | undefined;
		const run = (given: AbortSignal): Promise<never> => {
			signal = given;
			return new Promise(() => {});
		};
		const given = request({}, { signal: controller.signal });
		const outcome = runAttempts(given, context, { run, started: () => false });
		controller.abort();
		await expect(outcome).rejects.toMatchObject({ code: "CANCELLED" });
		expect(signal?.aborted ?? true).toBe(true);
		await expect(runAttempts(given, context, { run, started: () => false })).rejects.toMatchObject({
			code: "CANCELLED",
		});
	});

	test("that takes too long ends with TIMEOUT and aborts the model's signal", async () => {
		let signal: AbortSignal | undefined;
		const run = (given: AbortSignal): Promise<never> => {
			signal = given;
			return new Promise(() => {});
		};
		const outcome = runAttempts(request({ timeout: 5 }), context, { run, started: () => false });
		await expect(outcome).rejects.toMatchObject({
			code: "TIMEOUT",
			message: expect.stringContaining("5 ms"),
		});
		expect(signal?.aborted).toBe(true);
	});

	test("leaves no timer, whether it ended before its time or was cancelled while it waited", async () => {
		vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
		try {
			const controller = new AbortController();
			const silenceMs = Number.POSITIVE_INFINITY;
			const quick = request({ timeout: 60_000, silenceMs });
			await runAttempts(quick, context, { run: async () => 1, started: () => false });
			expect(vi.getTimerCount()).toBe(0);
			const run = async (): Promise<never> => {
				throw overloaded;
			};
			const waiting = Promise.withResolvers<void>();
			const onRetry = () => waiting.resolve();
			const slow = request({ timeout: 60_000, silenceMs }, { signal: controller.signal, onRetry });
			const outcome = runAttempts(slow, context, { run, started: () => false });
			await waiting.promise;
			expect(vi.getTimerCount()).toBe(2);
			controller.abort();
			await expect(outcome).rejects.toMatchObject({ code: "CANCELLED" });
			expect(vi.getTimerCount()).toBe(0);
		} finally {
			vi.useRealTimers();
		}
	});

	test("leaves no listener on its signal", async () => {
		const { signal } = new AbortController();
		let listeners = 0;
		const add = signal.addEventListener.bind(signal);
		const remove = signal.removeEventListener.bind(signal);
		signal.addEventListener = (...args: Parameters<typeof add>) => {
			listeners++;
			add(...args);
		};
		signal.removeEventListener = (...args: Parameters<typeof remove>) => {
			listeners--;
			remove(...args);
		};
		await runAttempts(request({}, { signal }), context, { run: async () => 1, started: () => false });
		expect(listeners).toBe(0);
	});
});
