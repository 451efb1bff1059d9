// With HOLDFAST_STRICT_PROVIDERS=1, every test fails whose conversations a strict provider rejects. For a growing
// conversation only the last request is sent: it contains the others.
import type { LLMRequest } from "@holdfast/upp";
import { afterEach, expect } from "vitest";
import { requestObservers } from "../model/scripted-model.ts";
import { askAll, strictProviders } from "./strict-providers.fixture.ts";

/** Longer conversations repeat what short ones contain. */
const mostMessages = 2_000;
const mostConversations = 50;

const last = new Map<unknown, LLMRequest>();
/** Requests with lazily computed messages: a test may count the reads. */
const lazy: LLMRequest[] = [];
requestObservers.add((request) => {
	if (Object.getOwnPropertyDescriptor(request, "messages")?.get === undefined) keep(request);
	else if (lazy.push(request) > mostConversations) lazy.shift();
});
function keep(request: LLMRequest): void {
	const { messages } = request;
	if (messages.length > mostMessages) return;
	const first = messages[0]?.id;
	if (last.has(first) || last.size < mostConversations)
		last.set(first, { ...request, messages: [...messages] });
}
const providers = strictProviders();
afterEach(async ({ task }) => {
	for (const request of lazy.splice(0)) keep(request);
	const requests = [...last.values()];
	last.clear();
	const refused = [];
	for (const request of requests)
		for (const verdict of await askAll(providers, request))
			if (verdict.refused !== undefined) refused.push(`${verdict.provider}: ${verdict.refused}`);
	if (requests.length > 0)
		console.info(`[strict] ${requests.length} conversations of "${task.name}", ${refused.length} refusals`);
	expect(refused, "a strict provider refuses a conversation of this test").toEqual([]);
});
