// The language model port: what a model is asked, what it answers, and how a provider makes it ready.

import type { UPPError } from "../errors/index.ts";
import type { AssistantMessage, JSONSchema, Message, ModelTool } from "../messages/index.ts";
import type { StreamEvent } from "../stream/index.ts";
import type { StopReason, TokenUsage } from "../turn/index.ts";

/** Gives the key for each request, for example to rotate among several. */
export interface KeyStrategy {
	getKey(): string | Promise<string>;
}

/** When to try a failed request again. */
export interface RetryStrategy {
	/** The wait before the next try in milliseconds, or `null` to give up. `attempt` counts from 1. */
	onRetry(error: UPPError, attempt: number): number | null | Promise<number | null>;
	/** The wait before each request in milliseconds, for example to keep below a rate. */
	beforeRequest?(): number | Promise<number>;
	/** Called when a request succeeded. */
	reset?(): void;
}

/** How to reach a provider. */
export interface ProviderConfig {
	/** Default: the provider's own environment variable. */
	apiKey?: string | (() => string | Promise<string>) | KeyStrategy;
	/** Default: the provider's own address. */
	baseUrl?: string;
	/** Milliseconds for a whole model call, retries included. Default: no limit. */
	timeout?: number;
	/**
	 * Milliseconds without any content, after which one attempt fails with `TIMEOUT`; it is tried again as `retryStrategy`
	 * decides, unless something of it was emitted. A model that is not streamed sends its content at once. Default 600,000;
	 * Infinity: no limit.
	 */
	silenceMs?: number;
	/**
	 * Characters of one answer: text, reasoning, arguments of calls and files. Each piece counts for at least 16, also an empty
	 * one. A longer answer is left and fails with `INVALID_RESPONSE`. Default 16,777,216; Infinity: no limit.
	 */
	maxAnswerCharacters?: number;
	/** Default: the runtime's `fetch`. */
	fetch?: typeof fetch;
	/** Sent with every request. */
	headers?: Record<string, string>;
	/** Default: none for custom providers, two retries for AI SDK models. */
	retryStrategy?: RetryStrategy;
}

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
