// The AI SDK adapter's entry point: an AI SDK model as a BoundLLMModel, with retries, time limit and cancellation. The
// code that runs a call is loaded with the first call, so that importing this package stays fast.

import { UPPError } from "../errors/index.ts";
import {
	type BoundLLMModel,
	type LLMCapabilities,
	type LLMResponse,
	markChecked,
	markRetrying,
	type ProviderConfig,
} from "../model/index.ts";
import {
	type CallContext,
	exponentialBackoff,
	runAttempts,
	type Sleep,
	toUnknownError,
} from "../retry/index.ts";
import { EventStream, type StreamEvent } from "../stream/index.ts";
import type { LanguageModel } from "./language-model-types.ts";
import { promptCacheOf } from "./prompt-cache.ts";

// The AI SDK does not declare a model's capabilities. A model that lacks one responds with an error.
const capabilities: LLMCapabilities = {
	streaming: true,
	tools: true,
	structuredOutput: true,
	imageInput: true,
	videoInput: true,
	audioInput: true,
	documentInput: true,
};

/** The source of the model to call. */
export interface LanguageModelSource {
	provider: string;
	modelId: string;
	/** Loads the model for one call. */
	load(config: ProviderConfig): LanguageModel | Promise<LanguageModel>;
	/** Waits between retries. Default: timers. */
	sleep?: Sleep;
}

/** Wraps an AI SDK model as a UPP model. */
export function bindLanguageModel(model: LanguageModel, sleep?: Sleep): BoundLLMModel {
	return bindLanguageModelSource({
		provider: model.provider,
		modelId: model.modelId,
		load(config) {
			refuseConnection(config, model);
			return model;
		},
		...(sleep === undefined ? {} : { sleep }),
	});
}

/** Wraps a model that is loaded on its first call as a UPP model. */
export function bindLanguageModelSource(source: LanguageModelSource): BoundLLMModel {
	const context: CallContext = {
		provider: source.provider,
		defaultStrategy: exponentialBackoff(),
		toError: (thrown) => toUnknownError(thrown, source.provider),
		...(source.sleep === undefined ? {} : { sleep: source.sleep }),
	};
	const promptCache = promptCacheOf(source.provider);
	const model: BoundLLMModel = {
		modelId: source.modelId,
		capabilities: promptCache === undefined ? capabilities : { ...capabilities, promptCache },
		complete: (request) =>
			runAttempts(request, context, {
				run: async (_, deadline) => (calls ?? (await loadCalls())).generate(source, request, deadline),
				started: () => false,
			}),
		stream: (request) =>
			new EventStream<LLMResponse>((stream) => {
				const emit = (event: StreamEvent): void => {
					// Emitted with the first content: before that, a failed call can still be retried.
					if (!stream.started) stream.push({ type: "message_start", index: 0, delta: {} });
					stream.push(event);
				};
				return runAttempts(request, context, {
					run: (_, deadline) =>
						calls?.follow(source, request, deadline, emit) ??
						loadCalls().then(({ follow }) => follow(source, request, deadline, emit)),
					started: () => stream.started,
				});
			}),
	};
	return markChecked(markRetrying(model));
}

type Calls = typeof import("./calls.ts");

// Kept once loaded, because even a cached import() costs microseconds.
let calls: Calls | undefined;

async function loadCalls(): Promise<Calls> {
	calls = await import("./calls.ts");
	return calls;
}

function refuseConnection(config: ProviderConfig, model: LanguageModel): void {
	const name = (["apiKey", "baseUrl", "fetch"] as const).find((key) => config[key] !== undefined);
	if (name === undefined) return;
	throw new UPPError(
		`\`config.${name}\` cannot change a model that was made by an AI SDK provider. Give it to the provider that made "${model.modelId}".`,
		"INVALID_REQUEST",
		model.provider,
		"llm",
	);
}
