// The language model port: requests, responses, and how a provider binds models.

import type { UPPError } from "../errors/index.ts";
import type { AssistantMessage, JSONSchema, Message, ModelTool } from "../messages/index.ts";
import type { StreamEvent } from "../stream/index.ts";
import type { StopReason, TokenUsage } from "../turn/index.ts";
import type { PromptCache, PromptCacheControl } from "./prompt-cache.ts";
import type { SystemPart } from "./system.ts";

/** Returns the key for each request, for example to rotate among several. */
export interface KeyStrategy {
	/** Called before each request. */
	getKey(): string | Promise<string>;
}

/** When to retry a failed request. */
export interface RetryStrategy {
	/** Returns the delay before the next retry in milliseconds, or `null` to give up. `attempt` counts from 1. */
	onRetry(error: UPPError, attempt: number): number | null | Promise<number | null>;
	/** Returns the delay before each request in milliseconds, for example to stay below a rate limit. */
	beforeRequest?(): number | Promise<number>;
	/** Called when a request succeeded. */
	reset?(): void;
}

/** The configuration of a provider. */
export interface ProviderConfig {
	/** Default: the provider's environment variable. */
	apiKey?: string | (() => string | Promise<string>) | KeyStrategy;
	/** Default: the provider's URL. */
	baseUrl?: string;
	/** The time limit in milliseconds for a whole model call, including retries. Default: no limit. */
	timeout?: number;
	/**
	 * Milliseconds without any content after which an attempt fails with `TIMEOUT`. It is retried as `retryStrategy`
	 * decides, unless some of it was emitted. A model that is not streamed sends all its content at once. Default
	 * 600,000; Infinity: no limit.
	 */
	silenceMs?: number;
	/**
	 * The maximum number of characters of one answer: text, reasoning, arguments of calls and files. Each piece counts
	 * for at least 16, even an empty one. A longer answer is abandoned and fails with `INVALID_RESPONSE`. Default
	 * 16,777,216; Infinity: no limit.
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
	/** Whether `stream` may be called. */
	streaming: boolean;
	/** Whether it can call tools. */
	tools: boolean;
	/** Whether it can answer with JSON that matches a schema. */
	structuredOutput: boolean;
	/** Whether messages may contain images. */
	imageInput: boolean;
	/** Whether messages may contain videos. */
	videoInput: boolean;
	/** Whether messages may contain audio. */
	audioInput: boolean;
	/** Whether messages may contain documents. Default: unknown. */
	documentInput?: boolean;
	/** How requests control the provider's prompt cache. Default: they cannot, and requests have no `cache`. */
	promptCache?: PromptCacheControl;
}

/** Information about a retry, passed before it starts. */
export interface RetryInfo {
	/** The number of the retry, from 1. */
	attempt: number;
	/** The delay before it, in milliseconds. */
	delayMs: number;
	/** Why the last attempt failed. */
	error: UPPError;
}

/** One call of a model. */
export interface LLMRequest {
	/** The conversation; the last message is the one to answer. */
	readonly messages: readonly Message[];
	/** The system prompt as one text. */
	system?: string;
	/** The system prompt as parts, if a part has settings of its own. `system` is the text of all of them. */
	systemParts?: readonly SystemPart[];
	/** Model parameters such as `temperature`; each model's port defines those it supports. */
	params?: Record<string, unknown>;
	/** The tools that the model may call. Default: none. */
	tools?: readonly ModelTool[];
	/** The schema that the answer must match. */
	structure?: JSONSchema;
	/**
	 * How to treat an answer that is not JSON although `structure` requires it. `keep`: return it without `data`, for a
	 * caller that checks it. Default: the call fails with INVALID_RESPONSE.
	 */
	unparsed?: "keep";
	/** How to use the prompt cache. Only set for models with the capability `promptCache`. */
	cache?: PromptCache;
	/** The configuration of the provider for this call. */
	config: ProviderConfig;
	/** Cancels the call, which then fails with `CANCELLED`. */
	signal?: AbortSignal;
	/** Called before each retry. Must not throw. */
	onRetry?(info: RetryInfo): void;
}

/** A model's whole answer. */
export interface LLMResponse {
	/** The answer, with the tool calls that the model makes. */
	message: AssistantMessage;
	/** Tokens of this call. */
	usage: TokenUsage;
	/** Why the model stopped. */
	stopReason: StopReason;
	/** The parsed answer, if a `structure` was requested. */
	data?: unknown;
}

/** A model ready to be called. */
export interface BoundLLMModel {
	/** The model's id at the provider. */
	readonly modelId: string;
	/** The features of the model. The engine calls `stream` only if it can stream. */
	readonly capabilities: LLMCapabilities;
	/** Returns a whole answer. @throws UPPError for a failed call. */
	complete(request: LLMRequest): Promise<LLMResponse>;
	/** Returns an answer with events while it is generated. */
	stream(request: LLMRequest): LLMStreamResult;
}

/** Binds a provider's language models. */
export interface LLMHandler {
	/** Returns the model with this id. `options` are those of its reference. */
	bind(modelId: string, options?: any): BoundLLMModel;
}

/** A model's answer that is being streamed. `response` settles even if the events are not read. */
export interface LLMStreamResult extends AsyncIterable<StreamEvent> {
	/** The whole answer. Rejects with the error if the call fails. */
	readonly response: Promise<LLMResponse>;
}
