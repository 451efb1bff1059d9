// The language model port: what a model is asked, what it answers, and how a provider makes it ready.

import type { UPPError } from "../errors/index.ts";
import type { AssistantMessage, JSONSchema, Message, ModelTool } from "../messages/index.ts";
import type { StreamEvent } from "../stream/index.ts";
import type { StopReason, TokenUsage } from "../turn/index.ts";
import type { ProviderConfig } from "./provider.ts";

/** The capabilities of a model. */
export interface LLMCapabilities {
	streaming: boolean;
	tools: boolean;
	structuredOutput: boolean;
	imageInput: boolean;
	videoInput: boolean;
	audioInput: boolean;
	documentInput?: boolean;
}

/** The information passed before a failed request is retried. */
export interface RetryInfo {
	/** The number of the retry, from 1. */
	attempt: number;
	/** How long it waits first, in milliseconds. */
	delayMs: number;
	error: UPPError;
}

/** One call of a model. */
export interface LLMRequest {
	readonly messages: readonly Message[];
	system?: string;
	/** Model parameters such as `temperature`; each model's port defines the ones it knows. */
	params?: Record<string, unknown>;
	tools?: readonly ModelTool[];
	/** The schema the answer must follow. */
	structure?: JSONSchema;
	/**
	 * How to treat an answer that is not JSON although `structure` requires it. `keep`: it is returned without `data`,
	 * for a caller that checks it. Default: the call fails with INVALID_RESPONSE.
	 */
	unparsed?: "keep";
	config: ProviderConfig;
	signal?: AbortSignal;
	/** Called before each retry. Must not throw. */
	onRetry?(info: RetryInfo): void;
}

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

/** A model's answer that is being streamed. `response` settles even if the events are not read. */
export interface LLMStreamResult extends AsyncIterable<StreamEvent> {
	readonly response: Promise<LLMResponse>;
}
