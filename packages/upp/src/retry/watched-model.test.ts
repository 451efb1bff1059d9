import { expect, test, vi } from "vitest";
import type { BoundLLMModel, LLMRequest, LLMResponse } from "../model/index.ts";
import { watchable, watchedModel } from "./index.ts";

/** A model that never answers, and the request that it received. */
function silent(): { readonly model: BoundLLMModel; seen(): LLMRequest } {
	let seen: LLMRequest | undefined;
	const model = watchedModel(
		{
			modelId: "m",
			capabilities: { streaming: false, tools: true } as BoundLLMModel["capabilities"],
			complete: (request) => {
				seen = request;
				return new Promise<LLMResponse>(() => {});
			},
			stream: () => {
				throw new Error("This model does not stream.");
			},
		},
		"p",
	);
	return { model, seen: () => seen as LLMRequest };
}

test("a signal that is read after the answer was abandoned is aborted, also in copies of the request", async () => {
	const { model, seen } = silent();
	await expect(model.complete({ messages: [], config: { silenceMs: 5 } })).rejects.toMatchObject({
		code: "TIMEOUT",
	});
	expect(seen().signal?.aborted).toBe(true);
	expect({ ...seen() }.signal).toBe(seen().signal);
});

test("the signal aborts with the caller's, and messages are not computed for it", () => {
	const { model, seen } = silent();
	const caller = new AbortController();
	const request = { config: {}, signal: caller.signal } as unknown as LLMRequest;
	Object.defineProperty(request, "messages", {
		get: () => {
			throw new Error("Messages were read.");
		},
		enumerable: true,
		configurable: true,
	});
	void model.complete(request);
	const { signal } = seen();
	expect(signal?.aborted).toBe(false);
	caller.abort(new Error("no more"));
	expect(signal?.aborted).toBe(true);
	expect(request.signal).toBe(caller.signal);
});

const prepared = (signal?: AbortSignal): LLMRequest =>
	watchable({ messages: [], config: { silenceMs: 5 } }, signal);

test("a prepared request is not copied, and copies of it have the answer's signal", async () => {
	const { model, seen } = silent();
	const caller = new AbortController();
	const request = prepared(caller.signal);
	expect(request.signal).toBe(caller.signal);
	const answer = model.complete(request);
	expect(seen()).toBe(request);
	const { signal } = { ...request };
	expect(signal?.aborted).toBe(false);
	await expect(answer).rejects.toMatchObject({ code: "TIMEOUT" });
	expect(signal?.aborted).toBe(true);
	expect(caller.signal.aborted).toBe(false);
});

test("a prepared request that is reused for a model has a new signal", async () => {
	const { model, seen } = silent();
	const caller = new AbortController();
	const request = prepared(caller.signal);
	await expect(model.complete(request)).rejects.toMatchObject({ code: "TIMEOUT" });
	const again = model.complete(request);
	const { signal } = seen();
	expect([request.signal?.aborted, signal?.aborted]).toEqual([true, false]);
	caller.abort();
	expect(signal?.aborted).toBe(true);
	await expect(again).rejects.toMatchObject({ code: "TIMEOUT" });
});

test.each([
	["as it is", (request: LLMRequest) => request],
	["as a copy", (request: LLMRequest) => ({ ...request })],
	[
		"as an exact copy",
		(request: LLMRequest): LLMRequest =>
			Object.defineProperties({} as LLMRequest, Object.getOwnPropertyDescriptors(request)),
	],
])("a model's own request to another model with its request, %s, ends with its answer", async (_, pass) => {
	const { model: inner, seen } = silent();
	const config = { silenceMs: Number.POSITIVE_INFINITY };
	const complete = (request: LLMRequest): Promise<LLMResponse> =>
		inner.complete(Object.assign(pass(request), { config }));
	const outer = watchedModel({ ...inner, complete }, "p");
	await expect(outer.complete(prepared())).rejects.toMatchObject({ code: "TIMEOUT" });
	expect(seen().signal?.aborted).toBe(true);
});

test("a model that throws at once leaves nothing watched", async () => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
	try {
		const fail = (): never => {
			throw new Error("down");
		};
		const model = watchedModel({ ...silent().model, complete: fail, stream: fail }, "p");
		const request = { messages: [], config: { silenceMs: 5 } };
		await expect(model.complete(request)).rejects.toThrow("down");
		expect(() => model.stream(request)).toThrow("down");
		expect(vi.getTimerCount()).toBe(0);
	} finally {
		vi.useRealTimers();
	}
});
