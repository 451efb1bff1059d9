// Providers: their requests and responses, and their optional features.
import type { infer as Infer, ZodType } from "zod";
import type {
	ModelCapabilities,
	ProviderModelInfo,
	ProviderModelsPage,
	ProviderModelsQuery,
} from "./model.ts";
import type { ProviderMessage, ProviderReasoningDetail, ProviderToolCallPart } from "./provider-message.ts";
import type { ToolArgs, ToolDefinition, ToolTenvs } from "./tool.ts";

/** A tool in the form that a provider receives. */
export interface ProviderTool {
	/** Always `function`. */
	type: "function";
	/** Its name, its description, and its parameters as JSON Schema. */
	function: { name: string; description: string; parameters?: Record<string, unknown> };
	/** Who executes it; `local` by default. */
	executionMode?: "local" | "provider";
	/** The provider that executes it. */
	executionProvider?: string;
	/** Data for the provider that executes it. */
	options?: Record<string, unknown>;
}

/** A request to a model. */
export interface ProviderRequest {
	/** Name of the model at the provider. */
	model: string;
	/** The conversation, its system message first. */
	messages: ProviderMessage[];
	/** The tools that the model can call. */
	tools?: ProviderTool[];
	/** Whether the model may call tools, must not, or must. */
	toolChoice?: "auto" | "none" | "required" | { name: string };
	/** Whether it may call several tools at once. */
	parallelToolCalls?: boolean;
	/** Maximum number of tokens of its answer. */
	maxOutputTokens?: number;
	/** The sampling temperature. */
	temperature?: number;
	/** Nucleus sampling: the probability mass of the tokens to choose from. */
	topP?: number;
	/** The number of most likely tokens to choose from. */
	topK?: number;
	/** Texts that end its answer. */
	stopSequences?: string[];
	/** How much it reasons: a level from 0 to 100. */
	reasoning?: {
		level?: number;
		effort?: "low" | "medium" | "high";
		maxTokens?: number;
		exclude?: boolean;
		include?: boolean;
	};
	/** The format of its answer. */
	responseFormat?: { type: "text" } | { type: "json"; schema?: Record<string, unknown> };
	/** Fires when the answer is no longer needed. */
	signal?: AbortSignal;
	/** Custom options of the provider. */
	providerOptions?: Record<string, unknown>;
}

/** Why a model ended its answer. */
export type ProviderFinishReason = "stop" | "tool_calls" | "length" | "content_filter";

/** Tokens that a call used. */
export interface ProviderUsage {
	/** Tokens of the request. */
	promptTokens: number;
	/** Tokens of the answer. */
	completionTokens: number;
	/** Tokens of both. */
	totalTokens: number;
	/** Reasoning tokens, included in those of the answer. */
	reasoningTokens?: number;
	/** Cached tokens of the request. */
	cachedTokens?: number;
	/** The cost in US dollars, if the provider reports it. */
	cost?: number;
}

/** An image that a model generated. */
export interface ProviderGeneratedImage {
	/** Unique in the answer. */
	id?: string;
	/** Its bytes in base64, or a data URL. */
	data: string;
	/** Its MIME type. */
	mediaType: string;
	/** The prompt from which it was generated. */
	revisedPrompt?: string;
}

/** A web search that the provider ran. */
export interface ProviderWebSearchResult {
	/** Unique in the answer. */
	id: string;
	/** Its status. */
	status?: "completed" | "failed" | "in_progress";
	/** The searches and their results. */
	actions?: Array<{
		type: string;
		query?: string;
		url?: string;
		pattern?: string;
		sources?: Array<{ type?: string; url: string; title?: string }>;
	}>;
}

/** A tool that the provider executed. It is logged and never executed again. */
export interface ProviderExecutedToolResult {
	/** Its name at the provider. */
	name: string;
	/** The former name of `name`. */
	type?: string;
	/** The provider that executed it. */
	provider?: string;
	/** Unique in the answer. */
	id: string;
	/** Its status. */
	status: "completed" | "failed" | "in_progress";
	/** The input and the output of the tool. */
	result?: {
		actions?: Array<{
			type: string;
			query?: string;
			url?: string;
			pattern?: string;
			sources?: Array<{ type?: string; url: string; title?: string }>;
		}>;
		input?: Record<string, unknown>;
		output?: string;
		results?: unknown[];
		artifacts?: Array<{
			type: string;
			id?: string;
			mediaType?: string;
			url?: string;
			path?: string;
			title?: string;
			metadata?: Record<string, unknown>;
		}>;
	};
	/** Custom data of the provider, JSON only. */
	metadata?: Record<string, unknown>;
}

/** The answer of a model. */
export interface ProviderResponse {
	/** The text. */
	content: string | null;
	/** Its reasoning. */
	reasoning?: string | null;
	/** The model's reasoning, in the form that the provider expects back. */
	reasoningDetails?: ProviderReasoningDetail[];
	/** The tools it calls. */
	toolCalls?: ProviderToolCallPart[];
	/** Images that it generated. */
	images?: ProviderGeneratedImage[];
	/** Web searches that the provider ran. */
	webSearches?: ProviderWebSearchResult[];
	/** Tools that the provider executed. */
	providerTools?: ProviderExecutedToolResult[];
	/** Why it ended. */
	finishReason: ProviderFinishReason;
	/** The tokens it used. */
	usage: ProviderUsage;
	/** Custom data of the provider. */
	metadata?: Record<string, unknown>;
}

/** A piece of an answer. */
export type ProviderStreamChunk =
	| { type: "content-delta"; delta: string }
	| { type: "content-done" }
	| { type: "reasoning-delta"; delta: string }
	| { type: "reasoning-done" }
	| { type: "tool-call-start"; id: string; name: string; extraContent?: Record<string, unknown> }
	| { type: "tool-call-delta"; id: string; argumentsDelta: string }
	| {
			type: "tool-call-done";
			id: string;
			arguments: Record<string, unknown>;
			extraContent?: Record<string, unknown>;
	  }
	| { type: "image-delta"; index: number; data: string }
	| { type: "image-done"; index: number; image: ProviderGeneratedImage }
	| { type: "web-search-done"; result: ProviderWebSearchResult }
	| { type: "provider-tool-done"; tool: ProviderExecutedToolResult }
	| {
			type: "finish";
			finishReason: ProviderFinishReason;
			usage: ProviderUsage;
			reasoningDetails?: ProviderReasoningDetail[];
			metadata?: Record<string, unknown>;
	  }
	| { type: "error"; error: string; code?: ProviderErrorCode };

/** Why a provider failed. `rate_limit`, `server_error` and `timeout` may succeed on a retry. */
export type ProviderErrorCode =
	| "rate_limit"
	| "auth_error"
	| "invalid_request"
	| "server_error"
	| "timeout"
	| "unknown";

/** Identifies a finished answer. */
export interface ResponseSummary {
	/** Its identifier at the provider. */
	responseId?: string;
	/** Name of the model. */
	model: string;
	/** Why it ended. */
	finishReason: ProviderFinishReason;
	/** The tokens it used. */
	usage: ProviderUsage;
	/** Custom data of the provider. */
	metadata?: Record<string, unknown>;
}

/** A request in the form that is sent to the provider, without keys. */
export interface InspectedRequest {
	/** Its body. */
	body: Record<string, unknown>;
	/** The conversation in the provider's form. */
	messages?: unknown[];
	/** Its URL. */
	url?: string;
	/** Custom data of the provider. */
	metadata?: Record<string, unknown>;
}

/** An instance of a provider. */
export interface ProviderInstance {
	/** Its name. */
	readonly name: string;
	/** The version of this interface. */
	readonly specificationVersion: "1";
	/** Whether it supports a model; all by default. */
	supportsModel?(modelId: string): boolean;
	/** Calls a model and returns the complete answer. */
	generate(request: ProviderRequest): Promise<ProviderResponse>;
	/** Calls a model and returns the answer in pieces. */
	stream(
		request: ProviderRequest,
	): AsyncIterable<ProviderStreamChunk> | Promise<AsyncIterable<ProviderStreamChunk>>;
	/** Returns the models it offers. */
	getModels?(filter?: string): Promise<ProviderModelInfo[]>;
	/** Returns the models it offers, page by page. */
	getModelsPage?(query?: ProviderModelsQuery): Promise<ProviderModelsPage>;
	/** Returns the capabilities of a model; null if unknown. */
	getModelCapabilities?(modelId: string): Promise<ModelCapabilities | null>;
	/** Returns the tools that it executes itself. */
	getTools?(
		modelId?: string,
	):
		| Record<string, ToolDefinition<unknown, ToolArgs | null, ToolTenvs | null>>
		| Promise<Record<string, ToolDefinition<unknown, ToolArgs | null, ToolTenvs | null>>>;
	/** Returns the URL of its icon, or of a model's. */
	getIcon?(modelId?: string): string | undefined;
	/** Returns additional metadata of an answer, such as its cost. */
	getResponseMetadata?(
		summary: ResponseSummary,
		signal?: AbortSignal,
	): Promise<Record<string, unknown> | null>;
	/** Returns the request as it would be sent, for logs. */
	inspectRequest?(request: ProviderRequest): Promise<InspectedRequest> | InspectedRequest;
}

/** The former name of {@link ProviderInstance}. */
export type LLMProviderInterface = ProviderInstance;

/** The arguments of a provider factory. */
export interface ProviderFactoryConfig {
	/** The API key. */
	apiKey?: string;
	/** The base URL of its API. */
	baseUrl?: string;
	/** Time limit in milliseconds. */
	timeout?: number;
	/** Custom options. */
	[option: string]: unknown;
}

/** Creates a provider. */
export type ProviderFactory = (config: ProviderFactoryConfig) => ProviderInstance;

/** Creates a provider, and declares the `providerOptions` that it accepts. */
export interface ProviderFactoryWithOptions<Options extends ZodType = ZodType> {
	/** Creates the provider of one model. */
	(config: ProviderFactoryConfig): ProviderInstance;
	/** The schema of `providerOptions`; accepts anything by default. */
	providerOptions?: Options;
	/** Environment value that contains its key, such as `OPENAI_API_KEY`. */
	apiKeyEnv?: string;
}

/** The type of a model's `provider`. */
export type ModelProvider = ProviderFactoryWithOptions;

/** The `providerOptions` of a provider. */
export type InferProviderOptions<P> = P extends { providerOptions?: infer Options }
	? NonNullable<Options> extends ZodType
		? Infer<NonNullable<Options>>
		: Record<string, unknown>
	: Record<string, unknown>;
