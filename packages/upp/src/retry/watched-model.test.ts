import { expect, test } from "vitest";
import type { BoundLLMModel, LLMRequest, LLMResponse } from "../model/index.ts";
import { watchedModel } from "./index.ts";

/** A model that never answers, and the request that it was given. */
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

test("a signal that is read after the answer was left has fired, in copies of the request too", async () => {
	const { model, seen } = silent();
	await expect(model.complete({ messages: [], config: { silenceMs: 5 } })).rejects.toMatchObject({
		code: "TIMEOUT",
	});
	expect(seen().signal?.aborted).toBe(true);
	expect({ ...seen() }.signal).toBe(seen().signal);
});

test("the signal fires when the caller's does, and messages are not computed for it", () => {
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
