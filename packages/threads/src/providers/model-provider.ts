// Any Holdfast model as a project provider: AI SDK models, references, and combinations of them.
import {
	type AnyMessage,
	AssistantMessage,
	bindModel,
	type ContentBlock,
	checkOptions,
	isUPPError,
	type LanguageModel,
	type LLMResponse,
	type Message,
	type ModelReference,
	optionNames,
	type ToolCall,
	type ToolResult,
	ToolResultMessage,
	type UserContent,
	UserMessage,
} from "@holdfast/upp";
import { ProviderError } from "../define/index.ts";
import type {
	ProviderErrorCode,
	ProviderFactoryConfig,
	ProviderFactoryWithOptions,
	ProviderFinishReason,
	ProviderInstance,
	ProviderMessage,
	ProviderRequest,
	ProviderResponse,
	ProviderStreamChunk,
	ProviderUsage,
} from "../types/index.ts";
import { assistantMessage } from "./upp-messages.ts";

const modelProviderNames = optionNames<ModelProviderOptions>({ name: "text", apiKeyEnv: "text" });

/** A model, or a function that creates one from its name and the provider's options. */
export type GivenModel =
	| ModelReference
	| LanguageModel
	| ((model: string, config: ProviderFactoryConfig) => ModelReference | LanguageModel);

/** Options of `modelProvider()`. */
export interface ModelProviderOptions {
	/** Default: `model`. */
	readonly name?: string;
	/** Environment value that contains its key. Default: the model needs no key from the environment. */
	readonly apiKeyEnv?: string;
}

/**
 * Creates a provider from any model: pass it as `provider` of `defineModel()`.
 *
 * @example
 * ```ts
 * import { defineModel, modelProvider } from "@holdfast/threads";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * const model = defineModel({ name: "fast", model: "script", provider: modelProvider(scriptedModel(["Hello."])) });
 * console.log(model.name); // fast
 * ```
 */
export function modelProvider(
	given: GivenModel,
	options: ModelProviderOptions = {},
): ProviderFactoryWithOptions {
	checkOptions(options, modelProviderNames, { of: "modelProvider()" });
	const { name = "model", apiKeyEnv } = options;
	const factory = (config: ProviderFactoryConfig): ProviderInstance => {
		const modelOf = (id: string): ModelReference | LanguageModel =>
			isMaker(given) ? given(id, config) : given;
		return {
			name,
			specificationVersion: "1",
			async generate(request) {
				const { model, asked } = bound(modelOf(request.model), request);
				try {
					return answerOf(await model.complete(asked));
				} catch (error) {
					throw failureOf(error);
				}
			},
			stream: (request) => streamed(modelOf(request.model), request),
		};
	};
	return apiKeyEnv === undefined ? factory : Object.assign(factory, { apiKeyEnv });
}

/** A model reference is also a function, and names its model. */
function isMaker(given: GivenModel): given is Extract<GivenModel, (...given: never) => unknown> {
	return typeof given === "function" && !("modelId" in given);
}

function bound(model: ModelReference | LanguageModel, request: ProviderRequest) {
	const { signal, tools = [], responseFormat } = request;
	const system = request.messages.filter(({ role }) => role === "system").map(({ content }) => content);
	const params: Record<string, unknown> = {};
	for (const name of ["temperature", "topP", "topK", "maxOutputTokens", "stopSequences"] as const)
		if (request[name] !== undefined) params[name] = request[name];
	if (request.providerOptions !== undefined) params.providerOptions = request.providerOptions;
	const { toolChoice } = request;
	if (toolChoice !== undefined && tools.length > 0)
		params.toolChoice =
			typeof toolChoice === "object" ? { type: "tool", toolName: toolChoice.name } : { type: toolChoice };
	const binding = bindModel({ model } as Parameters<typeof bindModel>[0]);
	const asked = binding.request(uppMessages(request.messages), {
		...(signal === undefined ? {} : { signal }),
		...(system.length === 0 ? {} : { system: system.join("\n\n") }),
		tools: tools
			.filter(({ executionMode }) => executionMode !== "provider")
			.map(({ function: { name, description, parameters } }) => ({
				name,
				description,
				parameters: parameters ?? { type: "object", properties: {} },
			})),
		...(responseFormat?.type === "json" && responseFormat.schema !== undefined
			? { structure: responseFormat.schema }
			: {}),
	});
	if (Object.keys(params).length > 0) asked.params = params;
	return { model: binding.model, asked };
}

async function* streamed(
	given: ModelReference | LanguageModel,
	request: ProviderRequest,
): AsyncGenerator<ProviderStreamChunk, void, void> {
	const { model, asked } = bound(given, request);
	let response: LLMResponse;
	try {
		if (model.capabilities.streaming) {
			const stream = model.stream(asked);
			stream.response.catch(() => {}); // the iteration or the end reports it
			for await (const { type, delta } of stream) {
				if (type === "text_delta" && delta.text) yield { type: "content-delta", delta: delta.text };
				else if (type === "reasoning_delta" && delta.text)
					yield { type: "reasoning-delta", delta: delta.text };
			}
			response = await stream.response;
		} else response = await model.complete(asked);
	} catch (error) {
		throw failureOf(error);
	}
	const answer = answerOf(response);
	if (!model.capabilities.streaming && answer.content !== null)
		yield { type: "content-delta", delta: answer.content };
	for (const { id, name, arguments: values, extraContent } of answer.toolCalls ?? []) {
		yield { type: "tool-call-start", id, name };
		yield {
			type: "tool-call-done",
			id,
			arguments: values,
			...(extraContent === undefined ? {} : { extraContent }),
		};
	}
	for (const [index, image] of (answer.images ?? []).entries()) yield { type: "image-done", index, image };
	const { finishReason, usage, reasoningDetails } = answer;
	yield {
		type: "finish",
		finishReason,
		usage,
		...(reasoningDetails === undefined ? {} : { reasoningDetails }),
	};
}

const finishes: readonly string[] = ["stop", "tool_calls", "length", "content_filter"];

function answerOf({ message, usage, stopReason }: LLMResponse): ProviderResponse {
	const said = assistantMessage(
		message.content.filter(({ type }) => type !== "image"),
		undefined,
	);
	const images = message.content.flatMap((block) =>
		block.type === "image" && block.source.type === "base64"
			? [{ data: block.source.data, mediaType: block.mimeType }]
			: [],
	);
	const text = message.text;
	// Data that the model needs back with its reasoning and calls is passed through unchanged.
	const reasoningDetails = message.content.flatMap((block) =>
		block.type === "reasoning" && block.metadata !== undefined
			? [{ type: "holdfast", text: block.text, data: JSON.stringify(block.metadata) }]
			: [],
	);
	return {
		content: text === "" ? null : text,
		...(said.reasoning === undefined ? {} : { reasoning: said.reasoning }),
		...(reasoningDetails.length === 0 ? {} : { reasoningDetails }),
		toolCalls: (message.toolCalls ?? []).map(({ toolCallId, toolName, metadata, ...call }) => ({
			id: toolCallId,
			name: toolName,
			arguments: (call.invalidArguments ?? call.arguments) as Record<string, unknown>,
			...(metadata === undefined ? {} : { extraContent: metadata }),
		})),
		...(images.length === 0 ? {} : { images }),
		finishReason: (finishes.includes(stopReason) ? stopReason : "stop") as ProviderFinishReason,
		usage: usageOf(usage),
	};
}

function usageOf(usage: LLMResponse["usage"]): ProviderUsage {
	const { inputTokens, outputTokens, totalTokens } = usage;
	const cached = (usage as { cacheReadTokens?: number }).cacheReadTokens;
	return {
		promptTokens: inputTokens,
		completionTokens: outputTokens,
		totalTokens,
		...(cached === undefined ? {} : { cachedTokens: cached }),
	};
}

function uppMessages(messages: readonly ProviderMessage[]): Message[] {
	const made: AnyMessage[] = [];
	/** Results of the last message of results. */
	let results: ToolResult[] = [];
	for (const message of messages) {
		switch (message.role) {
			case "system":
				break;
			case "user":
				made.push(new UserMessage(blocksOf(message.content) as UserContent[]));
				break;
			case "assistant": {
				const reasoning: ContentBlock[] = (message.reasoningDetails ?? []).flatMap((detail) => {
					if (detail.type !== "holdfast" || detail.data === undefined) return [];
					return [{ type: "reasoning", text: detail.text ?? "", metadata: JSON.parse(detail.data) }];
				});
				const calls = message.toolCalls?.map(({ id, name, arguments: values, extraContent }): ToolCall => {
					const metadata = extraContent as ToolCall["metadata"];
					return {
						toolCallId: id,
						toolName: name,
						arguments: values,
						...(metadata === undefined ? {} : { metadata }),
					};
				});
				made.push(new AssistantMessage([...reasoning, ...blocksOf(message.content ?? "")], calls));
				break;
			}
			default: {
				const { content, toolCallId } = message;
				const isError = typeof content === "object" && "type" in content && content.type === "error";
				const result = { toolCallId, result: textOf(content), ...(isError ? { isError } : {}) };
				if (made.at(-1)?.type !== "tool_result") {
					results = [];
					made.push(new ToolResultMessage(results));
				}
				results.push(result);
			}
		}
	}
	return made;
}

function textOf(content: Extract<ProviderMessage, { role: "tool" }>["content"]): string {
	if (typeof content === "string") return content;
	if (Array.isArray(content)) return content.map((part) => (part.type === "text" ? part.text : "")).join("");
	return content.type === "error" ? content.error : content.text;
}

function blocksOf(content: Extract<ProviderMessage, { role: "user" }>["content"]): ContentBlock[] {
	if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
	return content.map((part): ContentBlock => {
		switch (part.type) {
			case "text":
				return { type: "text", text: part.text };
			case "image":
				return {
					type: "image",
					source: { type: "base64", data: part.data },
					mimeType: part.mediaType,
				};
			case "image_url":
				return { type: "image", source: { type: "url", url: part.image_url.url }, mimeType: "image/*" };
			default:
				return {
					type: "document",
					source: { type: "base64", data: part.data },
					mimeType: part.mediaType,
					...(part.filename === undefined ? {} : { title: part.filename }),
				};
		}
	});
}

const codes: Readonly<Record<string, ProviderErrorCode>> = {
	RATE_LIMITED: "rate_limit",
	AUTHENTICATION_FAILED: "auth_error",
	INVALID_REQUEST: "invalid_request",
	MODEL_NOT_FOUND: "invalid_request",
	CONTEXT_LENGTH_EXCEEDED: "invalid_request",
	NETWORK_ERROR: "server_error",
	TIMEOUT: "timeout",
};

/** Converts a model's failure into the errors of a project. */
function failureOf(error: unknown): unknown {
	if (!isUPPError(error) || error.code === "CANCELLED") return error;
	const code = codes[error.code] ?? (error.retryable ? "server_error" : "unknown");
	return new ProviderError(error.message, code, error.statusCode, error.retryAfterMs, error);
}
