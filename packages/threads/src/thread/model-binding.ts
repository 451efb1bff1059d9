// The models of a project: each with its provider, created with the caller's key, and its request options.
import {
	type AnswerLimits,
	delay,
	type LLMResponse,
	type StreamEvent,
	type UPPError,
	type WatchedAnswer,
	watchAnswer,
} from "@holdfast/upp";
import { mapReasoningLevel, ProviderError } from "../define/index.ts";
import { type AnswerMessage, generateWith, providerFailure, streamInto } from "../providers/index.ts";
import type {
	ModelCapabilities,
	ModelDefinition,
	ProjectItem,
	PromptDefinition,
	ProviderInstance,
	ProviderRequest,
} from "../types/index.ts";
import type { EnvironmentPart } from "./parts.ts";
import type { ProjectIndex } from "./project-index.ts";

/** A model, and the provider that answers for it. */
export interface BoundModel {
	readonly item: ProjectItem<"model">;
	readonly provider: ProviderInstance;
	/** Its capabilities according to its definition, or otherwise its provider. */
	readonly capabilities: ModelCapabilities | undefined;
	/** Values that must never appear in a log. */
	readonly secrets: readonly string[];
}

/** Models of a project's prompts whose providers need no key. */
const withoutKeys = new WeakMap<ProjectIndex, Map<ProjectItem<"prompt">, readonly BoundModel[]>>();

/** Returns the models of a prompt: its own and, in order, the fallbacks for transient failures. */
export function modelsOf(
	index: ProjectIndex,
	prompt: ProjectItem<"prompt">,
	env: Pick<EnvironmentPart, "find">,
): readonly BoundModel[] | Promise<readonly BoundModel[]> {
	return withoutKeys.get(index)?.get(prompt) ?? boundModels(index, prompt, env);
}

async function boundModels(
	index: ProjectIndex,
	prompt: ProjectItem<"prompt">,
	env: Pick<EnvironmentPart, "find">,
): Promise<readonly BoundModel[]> {
	const first = index.item(prompt.namespace, "model", prompt.definition.model);
	const others = (first.definition.fallbacks ?? []).map((name) => index.item(first.namespace, "model", name));
	const once = [...new Map([first, ...others].map((item) => [item.name, item])).values()];
	const models = await Promise.all(once.map((item) => bound(item, env)));
	if (once.every(({ definition }) => definition.provider.apiKeyEnv === undefined))
		withoutKeys.set(index, (withoutKeys.get(index) ?? new Map()).set(prompt, models));
	return models;
}

type Made = Pick<BoundModel, "provider" | "capabilities">;

const made = new WeakMap<ModelDefinition, Map<string, Promise<Made>>>();

async function bound(item: ProjectItem<"model">, env: Pick<EnvironmentPart, "find">): Promise<BoundModel> {
	const { definition } = item;
	const { apiKeyEnv } = definition.provider;
	const key = apiKeyEnv === undefined ? undefined : (await env.find(apiKeyEnv))?.value;
	const known = made.get(definition) ?? new Map<string, Promise<Made>>();
	made.set(definition, known);
	const name = key ?? "";
	const making = known.get(name) ?? make(definition, key);
	known.set(name, making);
	making.catch(() => known.delete(name)); // a failure is retried
	return { item, ...(await making), secrets: key === undefined || key === "" ? [] : [key] };
}

/** Creates the provider of a model with a key. */
export function providerOf(definition: ModelDefinition, apiKey: string | undefined): ProviderInstance {
	const { includedProviders } = definition;
	return definition.provider({
		...(apiKey === undefined ? {} : { apiKey }),
		...(includedProviders === undefined ? {} : { includedProviders: [...includedProviders] }),
	});
}

async function make(definition: ModelDefinition, apiKey: string | undefined): Promise<Made> {
	const provider = providerOf(definition, apiKey);
	return { provider, capabilities: await capabilitiesOf(definition, provider) };
}

/** How long a provider may take to report a model's capabilities. */
const patienceMs = 5_000;

/** Returns a model's capabilities: from its definition, or otherwise from its provider, if that answers in time. */
export async function capabilitiesOf(
	{ capabilities, model }: ModelDefinition,
	provider: ProviderInstance,
): Promise<ModelCapabilities | undefined> {
	if (capabilities !== undefined || provider.getModelCapabilities === undefined) return capabilities;
	const answered = new AbortController();
	try {
		const said = await Promise.race([
			provider.getModelCapabilities(model),
			delay(patienceMs, answered.signal).catch(() => undefined),
		]);
		return typeof said === "object" && said !== null ? said : undefined;
	} catch {
		return undefined; // the model is used nevertheless
	} finally {
		answered.abort();
	}
}

/** Request options by the definition of a model. */
type OptionsByModel = WeakMap<ModelDefinition, Readonly<Omit<ProviderRequest, "messages">>>;

const knownOptions = new WeakMap<PromptDefinition, OptionsByModel>();

/**
 * Returns the part of a request that depends on the prompt and its model. It is built once unless it contains objects,
 * which a provider could modify.
 */
export function requestOptions(
	prompt: PromptDefinition,
	{ item: { definition: model }, capabilities }: BoundModel,
): Readonly<Omit<ProviderRequest, "messages">> {
	if (capabilities !== model.capabilities) return optionsOf(prompt, model, capabilities);
	let known = knownOptions.get(prompt);
	if (known === undefined) {
		known = new WeakMap();
		knownOptions.set(prompt, known);
	}
	let options = known.get(model);
	if (options === undefined) {
		options = optionsOf(prompt, model, capabilities);
		if (options.reasoning === undefined && options.providerOptions === undefined) known.set(model, options);
	}
	return options;
}

function optionsOf(
	{ toolChoice = "auto", parallelToolCalls = false, reasoning, providerOptions }: PromptDefinition,
	{ model, providerOptions: ofModel }: ModelDefinition,
	capabilities: ModelCapabilities | undefined,
): Omit<ProviderRequest, "messages"> {
	const options = { ...(ofModel as Record<string, unknown> | undefined), ...providerOptions };
	const level = reasoning?.effort === undefined ? undefined : levels[reasoning.effort];
	const word = level === undefined ? null : mapReasoningLevel(level, capabilities?.reasoningLevels);
	return {
		model,
		toolChoice,
		parallelToolCalls,
		...(capabilities?.maxOutputTokens === undefined ? {} : { maxOutputTokens: capabilities.maxOutputTokens }),
		...(reasoning === undefined
			? {}
			: {
					reasoning: {
						...reasoning,
						...(level === undefined ? {} : { level }),
						...(word === null ? {} : { providerLevel: word }),
					},
				}),
		...(Object.keys(options).length === 0 ? {} : { providerOptions: options }),
	};
}

const levels = { low: 25, medium: 50, high: 75 } as const;

/** An answer and its model. */
export interface Answered {
	readonly response: LLMResponse;
	readonly model: BoundModel;
}

/** How to call models one after the other. */
export interface AskModels {
	readonly models: readonly BoundModel[];
	readonly signal: AbortSignal | undefined;
	/** The limits of each answer. */
	readonly limits: AnswerLimits | undefined;
	/** Returns the thread's fields for the message of a model's answer. Default: only a new id. */
	readonly message?: (model: BoundModel) => AnswerMessage;
	/** Builds the request for a model. */
	request(model: BoundModel): ProviderRequest | Promise<ProviderRequest>;
	failed(model: BoundModel, error: UPPError, isLast: boolean): void;
}

/** Calls models for a complete answer until one succeeds. */
export function askWhole(asking: AskModels): Promise<Answered> {
	return ask(
		asking,
		(model, request, { heard }) => generateWith(model.provider, request, asking.message?.(model), heard),
		() => false,
	);
}

/** Calls models for a streamed answer until one starts it; after that, its errors are returned. */
export function askStreamed(asking: AskModels, emit: (event: StreamEvent) => void): Promise<Answered> {
	let hasSpoken = false;
	const said = (event: StreamEvent): void => {
		if (event.type === "message_start" || event.type === "message_stop") return;
		hasSpoken = true;
		emit(event);
	};
	return ask(
		asking,
		(model, request, { heard }) =>
			model.capabilities?.supportsStreaming === false
				? generateWith(model.provider, request, asking.message?.(model), heard)
				: streamInto(model.provider, request, said, asking.message?.(model), heard),
		() => hasSpoken,
	);
}

type CallModel = (
	model: BoundModel,
	request: ProviderRequest,
	watched: Pick<WatchedAnswer, "heard">,
) => Promise<LLMResponse>;

function ask(asking: AskModels, call: CallModel, hasSpoken: () => boolean): Promise<Answered> {
	const { models, limits, signal, request, failed } = asking;
	const limited = (model: BoundModel, made: ProviderRequest): Promise<LLMResponse> =>
		watchAnswer({ limits, provider: model.provider.name, signal }, (watched) => {
			// Most providers answer at once and read no signal, so it is created on demand.
			const get = (): AbortSignal | undefined => watched.signal;
			Object.defineProperty(made, "signal", { get, enumerable: true, configurable: true });
			return call(model, made, { heard: (piece) => watched.heard(piece) });
		});
	const from = (at: number): Promise<Answered> => {
		const model = models[at] as BoundModel; // a prompt always has a model
		const answered = (response: LLMResponse): Answered => ({ response, model });
		const refused = (thrown: unknown): Promise<Answered> => {
			const error = providerFailure(thrown, model.provider.name, signal);
			const isLast = at === models.length - 1 || !error.retryable || hasSpoken() || signal?.aborted === true;
			failed(model, error, isLast);
			if (isLast) throw error;
			return from(at + 1);
		};
		const { definition } = model.item;
		if (model.provider.supportsModel?.(definition.model) === false) {
			const message = `The provider "${model.provider.name}" does not have the model ${JSON.stringify(definition.model)}.`;
			return Promise.reject(new ProviderError(message, "invalid_request")).catch(refused);
		}
		const assembled = request(model);
		if (assembled instanceof Promise)
			return assembled.then((made) => limited(model, made).then(answered, refused));
		return limited(model, assembled).then(answered, refused);
	};
	return from(0);
}
