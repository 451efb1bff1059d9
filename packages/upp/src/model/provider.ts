// The port to models: what a provider is and how it is set up.

import type { UPPError } from "../errors/index.ts";
import type { LLMHandler } from "./model-port.ts";

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

/** The kinds of model a provider offers. */
export interface ProviderModalities {
	llm?: LLMHandler;
	embedding?: unknown;
	image?: unknown;
}

/** Makes references to models; it is called with a model's id. */
export interface Provider<Options = any> {
	(modelId: string, options?: Options): ModelReference<Options>;
	readonly name: string;
	readonly version: string;
	readonly modalities: ProviderModalities;
}

/** A model by its id and its provider. */
export interface ModelReference<Options = any> {
	readonly modelId: string;
	readonly provider: Provider<Options>;
	/** The options of the provider's call besides the id. */
	readonly options?: Options;
}
