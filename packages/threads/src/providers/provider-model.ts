// A project provider as a model anywhere in Holdfast.
import {
	checkOptions,
	createProvider,
	type LLMCapabilities,
	type LLMRequest,
	type ModelReference,
	optionNames,
} from "@holdfast/upp";
import type {
	ModelCapabilities,
	ProviderInstance,
	ProviderMessage,
	ProviderRequest,
} from "../types/index.ts";
import { generateWith, streamWith } from "./ask-provider.ts";
import { providerMessages } from "./upp-messages.ts";

const providerModelNames = optionNames<ProviderModelOptions>({
	toolChoice: true,
	parallelToolCalls: "flag",
	maxOutputTokens: "number",
	stopSequences: "list",
	reasoning: "object",
	providerOptions: "object",
	capabilities: "object",
});

/** Options of a provider's requests, apart from the conversation. */
export type ProviderModelOptions = Partial<
	Pick<
		ProviderRequest,
		"toolChoice" | "parallelToolCalls" | "reasoning" | "providerOptions" | "maxOutputTokens" | "stopSequences"
	>
> & {
	/** The model's capabilities. Default: all. */
	readonly capabilities?: ModelCapabilities;
};

/**
 * Creates a model from a provider, for every option that accepts a model. Parameters of a call (`temperature`, `topP`,
 * `topK`, `maxOutputTokens`, `stopSequences`, `toolChoice`, `parallelToolCalls`, `reasoning`, `providerOptions`) take
 * precedence over the options given here.
 *
 * @example
 * ```ts
 * import { agent } from "holdfast";
 * import { providerModel, type ProviderInstance } from "@holdfast/threads";
 *
 * const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
 * const parrot: ProviderInstance = {
 * 	name: "parrot",
 * 	specificationVersion: "1",
 * 	generate: async ({ messages }) => ({ content: String(messages.at(-1)?.content), finishReason: "stop", usage }),
 * 	async *stream({ messages }) {
 * 		yield { type: "content-delta", delta: String(messages.at(-1)?.content) };
 * 		yield { type: "finish", finishReason: "stop", usage };
 * 	},
 * };
 * const turn = await agent({ model: providerModel(parrot, "grey") }).query("Hello");
 * console.log(turn.response.text); // Hello
 * ```
 */
export function providerModel(
	provider: ProviderInstance,
	modelId: string,
	options: ProviderModelOptions = {},
): ModelReference {
	checkOptions(options, providerModelNames, { of: "providerModel()" });
	const { capabilities, ...given } = options;
	const bind = (id: string) => ({
		modelId: id,
		capabilities: capabilitiesOf(capabilities),
		complete: (request: LLMRequest) => generateWith(provider, requestOf(id, request, given)),
		stream: (request: LLMRequest) => streamWith(provider, requestOf(id, request, given)),
	});
	return createProvider({ name: provider.name, version: "1", modalities: { llm: { bind } } })(modelId);
}

/** Converts declared capabilities for the engine; an undeclared capability counts as present. */
function capabilitiesOf(given: ModelCapabilities | undefined): LLMCapabilities {
	return {
		streaming: given?.supportsStreaming ?? true,
		tools: given?.supportsToolCalls ?? true,
		structuredOutput: given?.supportsJsonMode ?? true,
		imageInput: given?.supportsImages ?? true,
		videoInput: false,
		audioInput: false,
		documentInput: true,
	};
}

const parameters = [
	"temperature",
	"topP",
	"topK",
	"maxOutputTokens",
	"stopSequences",
	"toolChoice",
	"parallelToolCalls",
	"reasoning",
	"providerOptions",
] as const;

function requestOf(
	model: string,
	request: LLMRequest,
	given: Omit<ProviderModelOptions, "capabilities">,
): ProviderRequest {
	const { system, tools = [], structure, signal, params = {} } = request;
	const asked: Record<string, unknown> = { ...given };
	for (const name of parameters) if (params[name] !== undefined) asked[name] = params[name];
	const head = system === undefined ? [] : [{ role: "system" as const, content: system }];
	const made: Omit<ProviderRequest, "messages"> = {
		...asked,
		model,
		...(tools.length === 0
			? {}
			: {
					tools: tools.map(({ name, description, parameters: schema }) => ({
						type: "function" as const,
						function: { name, description, parameters: schema as Record<string, unknown> },
					})),
				}),
		...(structure === undefined ? {} : { responseFormat: { type: "json", schema: { ...structure } } }),
		...(signal === undefined ? {} : { signal }),
	};
	// Messages are converted only when they are read.
	let messages: ProviderMessage[] | undefined;
	return Object.defineProperty(made as ProviderRequest, "messages", {
		enumerable: true,
		get() {
			messages ??= [...head, ...providerMessages(request.messages)];
			return messages;
		},
	});
}
