// Clients of well-known services: the providers of the AI SDK, loaded on first use.
import { checkOptions, HoldfastError, type LanguageModel, optionNames } from "@holdfast/upp";
import type { LLMClient, ModelInfo } from "../contract/index.ts";
import { modelClient } from "./model-client.ts";
import { untilDone } from "./until-done.ts";

const keyedAdapterNames = optionNames<KeyedAdapterOptions>({
	apiKey: "text",
	model: "text",
	baseUrl: "text",
	fetch: "function",
	info: "object",
});
const localClientNames = optionNames<AdapterOptions & { readonly baseUrl: string }>({
	model: "text",
	baseUrl: "text",
	fetch: "function",
	info: "object",
});

/** Options of every adapter. */
export interface AdapterOptions {
	/** Name of the model at the service. */
	readonly model: string;
	/** Base URL of the service. Default: the service's own. */
	readonly baseUrl?: string;
	/** Sends the requests. Default: the global `fetch`. */
	readonly fetch?: typeof fetch;
	/** The description of the client's model. Default: its name, with streaming. */
	readonly info?: Partial<ModelInfo>;
}

/** Options of a service that requires a key. */
export interface KeyedAdapterOptions extends AdapterOptions {
	/** The key of the service. */
	readonly apiKey: string;
}

/** Posts to `{baseUrl}/chat/completions` with a bearer key. Needs `@ai-sdk/openai`. */
export function openaiClient(given: KeyedAdapterOptions): LLMClient {
	checkOptions(given, keyedAdapterNames, { of: "openaiClient()" });
	const { apiKey, ...options } = given;
	return lazyClient(options, apiKey, async () => {
		const { createOpenAI } = await loadOpenAI();
		const given = { apiKey, ...settings(options), fetch: untilDone(options.fetch) };
		return createOpenAI(given).chat(options.model) as LanguageModel;
	});
}

/** Posts to `{baseUrl}/messages` with the key in `x-api-key`; the base ends in `/v1`. Needs `@ai-sdk/anthropic`. */
export function anthropicClient(given: KeyedAdapterOptions): LLMClient {
	checkOptions(given, keyedAdapterNames, { of: "anthropicClient()" });
	const { apiKey, ...options } = given;
	return lazyClient(options, apiKey, async () => {
		const { createAnthropic } = await loadAnthropic();
		return createAnthropic({ apiKey, ...settings(options) })(options.model) as LanguageModel;
	});
}

/** Uses a service that is compatible with OpenAI's, without a key. Needs `@ai-sdk/openai-compatible`. */
export function localClient(options: AdapterOptions & { readonly baseUrl: string }): LLMClient {
	checkOptions(options, localClientNames, { of: "localClient()" });
	return lazyClient(options, undefined, async () => {
		const { createOpenAICompatible } = await loadOpenAICompatible();
		const { baseUrl: baseURL, fetch } = options;
		const provider = createOpenAICompatible({
			name: "local",
			baseURL,
			includeUsage: true,
			fetch: untilDone(fetch),
		});
		return provider(options.model) as LanguageModel;
	});
}

function settings({ baseUrl, fetch }: AdapterOptions): { baseURL?: string; fetch?: typeof globalThis.fetch } {
	return {
		...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
		...(fetch === undefined ? {} : { fetch }),
	};
}

// Each import is inside a `try`, so that bundlers accept a missing package.
async function loadOpenAI(): Promise<typeof import("@ai-sdk/openai")> {
	try {
		return await import("@ai-sdk/openai");
	} catch (error) {
		throw missing("@ai-sdk/openai", error);
	}
}

async function loadAnthropic(): Promise<typeof import("@ai-sdk/anthropic")> {
	try {
		return await import("@ai-sdk/anthropic");
	} catch (error) {
		throw missing("@ai-sdk/anthropic", error);
	}
}

async function loadOpenAICompatible(): Promise<typeof import("@ai-sdk/openai-compatible")> {
	try {
		return await import("@ai-sdk/openai-compatible");
	} catch (error) {
		throw missing("@ai-sdk/openai-compatible", error);
	}
}

function missing(name: string, cause: unknown): HoldfastError {
	return new HoldfastError("ADAPTER_MISSING", `This client needs ${name}. Install it: npm install ${name}`, {
		cause,
	});
}

/** Returns a client whose package is loaded on the first call. Its errors never contain the key. */
function lazyClient(
	{ model, info }: AdapterOptions,
	key: string | undefined,
	make: () => Promise<LanguageModel>,
): LLMClient {
	let isClosed = false;
	let made: Promise<LLMClient> | undefined;
	const client = async (): Promise<LLMClient> => {
		if (isClosed) throw new HoldfastError("CLIENT_CLOSED", "This client was closed. Create another one.");
		made ??= make().then((each) => modelClient(each, info === undefined ? {} : { info }));
		made.catch(() => {
			made = undefined;
		});
		return made;
	};
	return {
		async call(prompt, options) {
			try {
				return await (await client()).call(prompt, options);
			} catch (error) {
				throw withoutKey(error, key);
			}
		},
		async *stream(prompt, options) {
			try {
				const inner = await client();
				if (inner.stream !== undefined) yield* inner.stream(prompt, options);
			} catch (error) {
				throw withoutKey(error, key);
			}
		},
		getModelInfo: async () => ({ name: model, supportsStreaming: true, ...info }),
		async close() {
			isClosed = true;
			const inner = await made?.catch(() => undefined);
			await inner?.close?.();
		},
	};
}

/** Returns an error without the key in any of its texts, and without its cause. */
function withoutKey(error: unknown, key: string | undefined): unknown {
	const given = error as { message?: unknown; code?: unknown; retryable?: unknown; retryAfterMs?: unknown };
	if (key === undefined || key === "" || typeof given?.message !== "string") return error;
	const code = given.code === "NETWORK_ERROR" ? "MODEL_UNAVAILABLE" : given.code;
	const clean = new HoldfastError(
		typeof code === "string" ? code : "MODEL_FAILED",
		given.message.replaceAll(key, "[REDACTED:key]"),
		{ retryable: given.retryable === true },
	);
	return typeof given.retryAfterMs === "number"
		? Object.assign(clean, { retryAfterMs: given.retryAfterMs })
		: clean;
}
