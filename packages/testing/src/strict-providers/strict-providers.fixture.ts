// Simulated providers that reject what the real ones document as invalid. The real packages write the requests; nothing
// leaves the process.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { type BoundLLMModel, type LLMRequest, noRetry, resolveModel } from "@holdfast/upp";
import { anthropicFault } from "./anthropic-rules.fixture.ts";
import { groqFault, mistralFault, openaiChatFault } from "./chat-rules.fixture.ts";
import { googleFault } from "./google-rules.fixture.ts";
import { type Json, jsonFault } from "./json-rules.fixture.ts";
import { responsesFault } from "./responses-rules.fixture.ts";

/** The outcome of a request at one provider. */
export interface Verdict {
	readonly provider: string;
	/** Why the provider rejects it; undefined if it does not. */
	readonly refused?: string;
	/** Why its package does not send it: the provider does not support it. */
	readonly unsupported?: string;
	readonly body?: Json;
}

type Fetch = typeof globalThis.fetch;
type Fault = (body: Json) => string | undefined;

interface StrictProvider {
	readonly name: string;
	readonly model: BoundLLMModel;
	readonly fault: Fault;
	sent: string | undefined;
}

function strict(
	name: string,
	fault: Fault,
	make: (fetch: Fetch) => Parameters<typeof resolveModel>[0],
): StrictProvider {
	const provider: StrictProvider = {
		name,
		fault,
		sent: undefined,
		model: bound(
			make((async (_url: unknown, init: { body?: unknown }) => {
				provider.sent = String(init.body);
				return new Response("{}", { status: 418 });
			}) as Fetch),
		),
	};
	return provider;
}

function bound(model: Parameters<typeof resolveModel>[0]): BoundLLMModel {
	const { provider, modelId } = resolveModel(model);
	const handler = provider.modalities.llm;
	if (handler === undefined) throw new Error(`${modelId} is not a language model`);
	return handler.bind(modelId);
}

const apiKey = "key";

/** Creates the providers; their requests are kept separate. */
export function strictProviders(): readonly StrictProvider[] {
	return [
		strict("openai.chat", openaiChatFault, (fetch) => createOpenAI({ apiKey, fetch }).chat("gpt-5.2")),
		strict("openai.responses", responsesFault, (fetch) =>
			createOpenAI({ apiKey, fetch }).responses("gpt-5.2"),
		),
		strict("anthropic", anthropicFault, (fetch) => createAnthropic({ apiKey, fetch })("claude-sonnet-4-5")),
		strict("google", googleFault, (fetch) => createGoogleGenerativeAI({ apiKey, fetch })("gemini-3-pro")),
		strict("mistral", mistralFault, (fetch) => createMistral({ apiKey, fetch })("mistral-large-latest")),
		strict("groq", groqFault, (fetch) => createGroq({ apiKey, fetch })("llama-3.3-70b-versatile")),
	];
}

/** Sends a request to each provider. */
export async function askAll(
	providers: readonly StrictProvider[],
	request: LLMRequest,
): Promise<readonly Verdict[]> {
	const verdicts: Verdict[] = [];
	for (const provider of providers) verdicts.push(await ask(provider, request));
	return verdicts;
}

/** Requests use the prompt cache in every way that the provider offers. */
function cacheOf({ promptCache }: BoundLLMModel["capabilities"]): Pick<LLMRequest, "cache"> {
	if (promptCache === "breakpoints") return { cache: { breakpoints: ["tools", "instructions", "tail"] } };
	return promptCache === "key" ? { cache: { key: "key" } } : {};
}

async function ask(provider: StrictProvider, request: LLMRequest): Promise<Verdict> {
	const { name, model, fault } = provider;
	provider.sent = undefined;
	let error: unknown;
	const { signal: _, ...rest } = request;
	const cache = cacheOf(model.capabilities);
	await model
		.complete({ ...rest, ...cache, config: { ...request.config, retryStrategy: noRetry } })
		.catch((thrown) => {
			error = thrown;
		});
	const { sent } = provider;
	if (sent === undefined) return { provider: name, unsupported: String((error as Error).message) };
	const body = JSON.parse(sent) as Json;
	const refused = jsonFault(sent) ?? fault(body);
	return refused === undefined ? { provider: name, body } : { provider: name, refused, body };
}
