// The language model port (LLMHandler, BoundLLMModel, LLMRequest, LLMResponse) and the options of `llm()`.

import type { LanguageModel } from "../ai-sdk/language-model-types.ts";
import type { UPPError } from "../errors/upp-error.ts";
import type { ContentBlock } from "../messages/content.ts";
import type { AssistantMessage, Message } from "../messages/message.ts";
import type { JSONSchema, Tool, ToolDefinition, ToolUseStrategy } from "../messages/tool.ts";
import type { ModelReference, ProviderConfig } from "../provider/provider-types.ts";
import type { LLMStreamResult, StreamResult } from "../stream/stream-event.ts";
import type { Thread } from "../thread/thread.ts";
import type { TokenUsage } from "../turn/token-usage.ts";
import type { Turn } from "../turn/turn.ts";

/** What a model can do. */
export interface LLMCapabilities {
	streaming: boolean;
	tools: boolean;
	structuredOutput: boolean;
	imageInput: boolean;
	videoInput: boolean;
	audioInput: boolean;
	documentInput?: boolean;
}

/** Said before a failed request is made again. */
export interface RetryInfo {
	/** Which retry this will be, from 1. */
	attempt: number;
	/** How long it waits first, in milliseconds. */
	delayMs: number;
	error: UPPError;
}

/** One call of a model. */
export interface LLMRequest {
	readonly messages: readonly Message[];
	system?: string;
	/** Model parameters such as `temperature`; the model's port says which it knows. */
	params?: Record<string, unknown>;
	tools?: readonly ToolDefinition[];
	/** The schema the answer must follow. */
	structure?: JSONSchema;
	config: ProviderConfig;
	signal?: AbortSignal;
	/** Told before each retry. Must not throw. */
	onRetry?(info: RetryInfo): void;
}

/** Why a model stopped. */
export type StopReason = "stop" | "length" | "tool_calls" | "content_filter" | "error" | "other";

/** A model's whole answer. */
export interface LLMResponse {
	message: AssistantMessage;
	usage: TokenUsage;
	stopReason: StopReason;
	/** The parsed answer, where a `structure` was asked for. */
	data?: unknown;
}

/** A model ready to be called. */
export interface BoundLLMModel {
	readonly modelId: string;
	readonly capabilities: LLMCapabilities;
	complete(request: LLMRequest): Promise<LLMResponse>;
	stream(request: LLMRequest): LLMStreamResult;
}

/** How a provider makes language models ready. */
export interface LLMHandler {
	bind(modelId: string, options?: any): BoundLLMModel;
}

/** The options of `llm()`. Fields not named here are passed on with every request. */
export interface LLMOptions {
	/** A reference made by a provider, or a model of the AI SDK. */
	model: ModelReference | LanguageModel;
	config?: ProviderConfig;
	params?: Record<string, unknown>;
	system?: string;
	tools?: readonly Tool[];
	toolStrategy?: ToolUseStrategy;
	/** The schema the answer must follow; the parsed answer is `turn.data`. */
	structure?: JSONSchema;
	/** Told before each retry. Must not throw. */
	onRetry?(info: RetryInfo): void;
}

/** What a conversation may be given as. */
export type LLMHistory = readonly Message[] | Thread;

/** What a user may say. */
export type LLMInput = string | Message | ContentBlock;

/** A model with its options, ready to be asked. @see UPP LLMInstance */
export interface LLMInstance {
	generate(historyOrInput: LLMHistory | LLMInput, ...inputs: LLMInput[]): Promise<Turn>;
	stream(historyOrInput: LLMHistory | LLMInput, ...inputs: LLMInput[]): StreamResult;
	readonly model: BoundLLMModel;
	readonly system: string | undefined;
	readonly params: Record<string, unknown> | undefined;
	readonly capabilities: LLMCapabilities;
}
