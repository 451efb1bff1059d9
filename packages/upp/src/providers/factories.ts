// The providers bundled with the model layer. Each uses the installed `@ai-sdk/*` package, which is loaded when a model
// is first called.

import { bindLanguageModelSource, type LanguageModel } from "../ai-sdk/index.ts";
import { HoldfastError } from "../errors/index.ts";
import {
	createProvider,
	type KeyStrategy,
	type LLMHandler,
	type Provider,
	type ProviderConfig,
} from "../model/index.ts";

/** The options of a provider. The `config` of a call takes precedence. */
export interface FactoryOptions {
	/** Default: the provider's environment variable. */
	apiKey?: string;
	/** Default: the provider's URL. */
	baseURL?: string;
	/** An alias of `baseURL`. */
	baseUrl?: string;
	/** Sent with every request. Default: none. */
	headers?: Record<string, string>;
	/** Makes the requests. Default: the runtime's `fetch`. */
	fetch?: typeof fetch;
}

/** The options of OpenAI. */
export interface OpenAIOptions extends FactoryOptions {
	/** Which OpenAI API to use. Default `responses`. */
	api?: "responses" | "chat";
}

/** The options of a server that implements OpenAI's chat API. */
export interface OpenAICompatibleOptions extends FactoryOptions {
	/** The name used for provider options and metadata. Default `openai-compatible`. */
	name?: string;
}

/** OpenAI's models, through `@ai-sdk/openai`. */
export const openai: Provider<OpenAIOptions> = fromPackage({
	name: "openai",
	packageName: "@ai-sdk/openai",
	create: "createOpenAI",
	model: (provider, modelId, options: OpenAIOptions) =>
		options.api === "chat" ? provider.chat(modelId) : provider.responses(modelId),
});

/** Anthropic's models, through `@ai-sdk/anthropic`. */
export const anthropic: Provider<FactoryOptions> = fromPackage({
	name: "anthropic",
	packageName: "@ai-sdk/anthropic",
	create: "createAnthropic",
	model: (provider, modelId) => provider.languageModel(modelId),
});

/** Google's Gemini models, through `@ai-sdk/google`. */
export const google: Provider<FactoryOptions> = fromPackage({
	name: "google",
	packageName: "@ai-sdk/google",
	create: "createGoogleGenerativeAI",
	model: (provider, modelId) => provider.languageModel(modelId),
});

/** Models of any server that implements OpenAI's chat API, through `@ai-sdk/openai-compatible`. */
export const openaiCompatible: Provider<OpenAICompatibleOptions> = fromPackage({
	name: "openai-compatible",
	packageName: "@ai-sdk/openai-compatible",
	create: "createOpenAICompatible",
	model: (provider, modelId) => provider.languageModel(modelId),
});

type ModelFactory = (modelId: string) => LanguageModel;

interface AISDKProvider {
	languageModel: ModelFactory;
	chat: ModelFactory;
	responses: ModelFactory;
}

interface Delegation<Options> {
	name: string;
	packageName: string;
	/** The name of the package's function that creates a provider. */
	create: string;
	model(provider: AISDKProvider, modelId: string, options: Options): LanguageModel;
}

function fromPackage<Options extends FactoryOptions>(delegation: Delegation<Options>): Provider<Options> {
	const llm: LLMHandler = {
		bind: (modelId, options: Options = {} as Options) => {
			const { name = delegation.name } = options as OpenAICompatibleOptions;
			const load = loader(delegation, modelId, options, name);
			return bindLanguageModelSource({ provider: name, modelId, load });
		},
	};
	return createProvider<Options>({ name: delegation.name, version: "1", modalities: { llm } });
}

interface Settings {
	name: string;
	apiKey: string | undefined;
	baseURL: string | undefined;
	fetch: typeof fetch | undefined;
	headers: Record<string, string> | undefined;
}

// Creates the model again only if the key, the URL or the fetch function has changed since the last call.
function loader<Options extends FactoryOptions>(
	delegation: Delegation<Options>,
	modelId: string,
	options: Options,
	name: string,
): (config: ProviderConfig) => Promise<LanguageModel> {
	let last: { settings: Settings; model: LanguageModel } | undefined;
	return async (config) => {
		const settings: Settings = {
			name,
			apiKey: (await readKey(config.apiKey)) ?? options.apiKey,
			baseURL: config.baseUrl ?? options.baseURL ?? options.baseUrl,
			fetch: config.fetch ?? options.fetch,
			headers: options.headers,
		};
		if (last === undefined || !isSame(last.settings, settings)) {
			requireAddress(delegation.packageName, settings);
			const given = Object.entries(settings).filter(([, value]) => value !== undefined);
			const provider = await makeProvider(delegation, Object.fromEntries(given));
			last = { settings, model: delegation.model(provider, modelId, options) };
		}
		return last.model;
	};
}

async function makeProvider(
	{ packageName, create }: Pick<Delegation<FactoryOptions>, "packageName" | "create">,
	settings: Record<string, unknown>,
): Promise<AISDKProvider> {
	const loaded = await loadPackage(packageName);
	const make = loaded[create];
	if (typeof make !== "function") {
		throw new HoldfastError(
			"provider_not_installed",
			`The installed ${packageName} has no ${create}: its version does not fit. Run \`npm install ${packageName}@latest\`.`,
		);
	}
	return make(settings) as AISDKProvider;
}

/** Webpack and Turbopack must leave the import as it is, or it would fail in what they build. */
async function loadPackage(packageName: string): Promise<Record<string, unknown>> {
	try {
		return (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ packageName)) as Record<
			string,
			unknown
		>;
	} catch (cause) {
		throw new HoldfastError(
			"provider_not_installed",
			`This model needs the package ${packageName}, which could not be loaded. Run \`npm install ${packageName}\`.`,
			{ cause, data: { packageName } },
		);
	}
}

function requireAddress(packageName: string, settings: Settings): void {
	if (packageName !== "@ai-sdk/openai-compatible" || settings.baseURL !== undefined) return;
	throw new HoldfastError(
		"invalid_model",
		'openaiCompatible needs the address of the server: `openaiCompatible("model", { baseURL: "http://localhost:8080/v1" })`.',
	);
}

function readKey(key: ProviderConfig["apiKey"]): string | undefined | Promise<string> {
	if (typeof key === "function") return Promise.resolve(key());
	if (typeof key === "object") return Promise.resolve((key as KeyStrategy).getKey());
	return key;
}

function isSame(a: Settings, b: Settings): boolean {
	return a.apiKey === b.apiKey && a.baseURL === b.baseURL && a.fetch === b.fetch;
}
