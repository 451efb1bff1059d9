// The models of a project: the provider of each, made with the key of whoever asks, and what it is asked with.
import type { LLMResponse, StreamEvent, UPPError } from "@holdfast/upp";
import { mapReasoningLevel } from "../define/index.ts";
import { generateWith, providerFailure, streamInto } from "../providers/index.ts";
import type {
	ModelDefinition,
	ProjectItem,
	PromptDefinition,
	ProviderInstance,
	ProviderRequest,
} from "../types/index.ts";
import type { EnvironmentPart } from "./parts.ts";
import type { ProjectIndex } from "./project-index.ts";

/** A model and the provider that answers for it. */
export interface BoundModel {
	readonly item: ProjectItem<"model">;
	readonly provider: ProviderInstance;
	/** What must appear in no log. */
	readonly secrets: readonly string[];
}

/** The models of a project's prompts whose providers need no key. */
const withoutKeys = new WeakMap<ProjectIndex, Map<ProjectItem<"prompt">, readonly BoundModel[]>>();

/** The models of a prompt: its own and, in order, those that take over when it fails for now. */
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

const made = new WeakMap<ModelDefinition, Map<string, ProviderInstance>>();

async function bound(item: ProjectItem<"model">, env: Pick<EnvironmentPart, "find">): Promise<BoundModel> {
	const { definition } = item;
	const { apiKeyEnv } = definition.provider;
	const key = apiKeyEnv === undefined ? undefined : (await env.find(apiKeyEnv))?.value;
	const known = made.get(definition) ?? new Map<string, ProviderInstance>();
	made.set(definition, known);
	const name = key ?? "";
	const provider = known.get(name) ?? definition.provider(key === undefined ? {} : { apiKey: key });
	known.set(name, provider);
	return { item, provider, secrets: key === undefined || key === "" ? [] : [key] };
}

/** What of a request follows from the prompt and its model. @see SA-023, SA-028 */
export function requestOptions(
	{ toolChoice = "auto", parallelToolCalls = false, reasoning, providerOptions }: PromptDefinition,
	{ model, capabilities, providerOptions: ofModel }: ModelDefinition,
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

/** An answer and the model that gave it. */
export interface Answered {
	readonly response: LLMResponse;
	readonly model: BoundModel;
}

/** How models are asked one after the other. */
export interface AskModels {
	readonly models: readonly BoundModel[];
	readonly signal: AbortSignal | undefined;
	/** The id of the answer's message. Default: a new one. */
	readonly messageId?: string;
	/** What a model is asked. */
	request(model: BoundModel): ProviderRequest | Promise<ProviderRequest>;
	failed(model: BoundModel, error: UPPError, isLast: boolean): void;
}

/** Asks models for a whole answer until one gives it. @see SA-030, SA-031 */
export async function askWhole(asking: AskModels): Promise<Answered> {
	return ask(
		asking,
		({ provider }, request) => generateWith(provider, request, asking.messageId),
		() => false,
	);
}

/** Asks models for an answer in pieces until one begins it; after that its error is the answer's. */
export async function askStreamed(asking: AskModels, emit: (event: StreamEvent) => void): Promise<Answered> {
	let hasSpoken = false;
	const said = (event: StreamEvent): void => {
		if (event.type === "message_start" || event.type === "message_stop") return;
		hasSpoken = true;
		emit(event);
	};
	return ask(
		asking,
		({ provider, item }, request) =>
			item.definition.capabilities?.supportsStreaming === false
				? generateWith(provider, request, asking.messageId)
				: streamInto(provider, request, said, asking.messageId),
		() => hasSpoken,
	);
}

type CallModel = (model: BoundModel, request: ProviderRequest) => Promise<LLMResponse>;

function ask(asking: AskModels, call: CallModel, hasSpoken: () => boolean): Promise<Answered> {
	const { models, signal, request, failed } = asking;
	const from = (at: number): Promise<Answered> => {
		const model = models[at] as BoundModel; // a prompt has a model
		const answered = (response: LLMResponse): Answered => ({ response, model });
		const refused = (thrown: unknown): Promise<Answered> => {
			const error = providerFailure(thrown, model.provider.name, signal);
			const isLast = at === models.length - 1 || !error.retryable || hasSpoken() || signal?.aborted === true;
			failed(model, error, isLast);
			if (isLast) throw error;
			return from(at + 1);
		};
		const assembled = request(model);
		if (assembled instanceof Promise)
			return assembled.then((made) => call(model, made).then(answered, refused));
		return call(model, assembled).then(answered, refused);
	};
	return from(0);
}
