import { type Script, scriptedModel } from "@holdfast/testing";
import {
	bindModel,
	type LLMRequest,
	type ModelReference,
	type RetryInfo,
	type StreamEvent,
	UPPError,
	UserMessage,
} from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { agent } from "../../agent/agent.ts";
import { retry } from "./retry.ts";

const overloaded = new UPPError("Overloaded.", "PROVIDER_ERROR", "scripted", "llm", 503);
const refused = new UPPError("No.", "AUTHENTICATION_FAILED", "scripted", "llm", 401);

/** A sleep function that only records durations. */
function noting(slept: number[]): (milliseconds: number) => Promise<void> {
	return async (milliseconds) => void slept.push(milliseconds);
}

function ask(model: ModelReference, extra: Partial<LLMRequest> = {}) {
	return bindModel({ model }).model.complete({ messages: [new UserMessage("hi")], config: {}, ...extra });
}

async function follow(model: ModelReference, events: StreamEvent[]): Promise<string> {
	const stream = bindModel({ model }).model.stream({ messages: [new UserMessage("hi")], config: {} });
	for await (const event of stream) events.push(event);
	return (await stream.response).message.text;
}

describe("a model that retries", () => {
	test("is called three times, after longer and longer waits, and the caller is notified", async () => {
		const slept: number[] = [];
		const emitted: RetryInfo[] = [];
		const model = scriptedModel([{ error: overloaded }, { error: overloaded }, "at last"]);
		const { message } = await ask(retry(model, { sleep: noting(slept) }), {
			onRetry: (info) => emitted.push(info),
		});
		expect(message.text).toBe("at last");
		expect(slept).toEqual([500, 1000]);
		expect(emitted).toEqual([
			{ attempt: 1, delayMs: 500, error: overloaded },
			{ attempt: 2, delayMs: 1000, error: overloaded },
		]);
	});

	test("throws the last error unchanged when its attempts are used up", async () => {
		const model = scriptedModel(() => ({ error: overloaded }));
		await expect(ask(retry(model, { attempts: 2, delay: 0 }))).rejects.toBe(overloaded);
		expect(model.requests).toHaveLength(2);
	});

	test("waits as long as the provider requests, or as configured", async () => {
		const limited = new UPPError("Slow down.", "RATE_LIMITED", "scripted", "llm", 429);
		limited.retryAfterMs = 1234;
		const script: Script = [{ error: limited }, "ok"];
		const slept: number[] = [];
		await ask(retry(scriptedModel(script), { sleep: noting(slept) }));
		await ask(retry(scriptedModel(script), { delay: 7, sleep: noting(slept) }));
		await ask(retry(scriptedModel(script), { delay: (failed) => failed * 9, sleep: noting(slept) }));
		expect(slept).toEqual([1234, 7, 9]);
	});

	test("does not retry permanent errors, unless configured", async () => {
		const first = scriptedModel([{ error: refused }, "ok"]);
		await expect(ask(retry(first, { delay: 0 }))).rejects.toBe(refused);
		const second = scriptedModel([{ error: refused }, "ok"]);
		const when = (error: UPPError): boolean => error.statusCode === 401;
		expect((await ask(retry(second, { delay: 0, when }))).message.text).toBe("ok");
	});

	test("restarts a stream that failed before any output", async () => {
		const model = scriptedModel([{ error: overloaded }, "at last"]);
		const events: StreamEvent[] = [];
		expect(await follow(retry(model, { delay: 0 }), events)).toBe("at last");
		expect(events.filter(({ type }) => type === "message_start")).toHaveLength(1);
		expect(events.map(({ delta }) => delta.text ?? "").join("")).toBe("at last");
	});

	test("does not restart a stream that has output", async () => {
		const model = scriptedModel([{ text: "half a sen", error: overloaded }, "again"]);
		const events: StreamEvent[] = [];
		await expect(follow(retry(model, { delay: 0 }), events)).rejects.toBe(overloaded);
		expect(model.requests).toHaveLength(1);
		expect(events.map(({ delta }) => delta.text ?? "").join("")).toBe("half a sen");
	});

	test("does not continue when the call is cancelled, also not in the middle of a wait", async () => {
		const controller = new AbortController();
		const model = scriptedModel(() => ({ error: overloaded }));
		const waiting = Promise.withResolvers<void>();
		const call = ask(retry(model, { delay: 1_000_000 }), {
			signal: controller.signal,
			onRetry: () => waiting.resolve(),
		});
		await waiting.promise;
		controller.abort(new Error("enough"));
		await expect(call).rejects.toThrow("enough");
		expect(model.requests).toHaveLength(1);
		await expect(ask(retry(model, { delay: 0 }), { signal: AbortSignal.abort() })).rejects.toBe(overloaded);
		expect(model.requests).toHaveLength(2);
	});

	test("disables the model's own retries, and does not compute messages earlier", async () => {
		let read = 0;
		const model = scriptedModel([{ error: overloaded }, "ok"]);
		const binding = bindModel({ model: retry(model, { delay: 0 }) });
		const request = binding.request(() => {
			read++;
			return [new UserMessage("hi")];
		});
		await binding.model.complete(request);
		expect(read).toBe(0);
		const strategy = model.requests[0]?.config.retryStrategy;
		expect(strategy?.onRetry(overloaded, 1)).toBeNull();
		expect(model.requests[1]?.messages).toHaveLength(1);
	});

	test("works in an agent", async () => {
		const model = scriptedModel([{ error: overloaded }, "fine"]);
		const clerk = agent({ model: retry(model, { delay: 0 }) });
		expect((await clerk.query("hi")).response.text).toBe("fine");
	});

	test("keeps the model's name and capabilities, and rejects invalid models", () => {
		const model = retry(scriptedModel([], { modelId: "large" }));
		expect(model.modelId).toBe("large");
		expect(model.provider.name).toBe("scripted");
		expect(bindModel({ model }).model.capabilities.tools).toBe(true);
		expect(() => retry("large" as never)).toThrow(/given as text/);
		expect(() => retry(scriptedModel([]), { attempts: 0 })).toThrow(/attempts/);
	});
});
