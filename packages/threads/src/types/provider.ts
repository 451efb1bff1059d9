// Providers: what they are asked, what they answer, and what they may offer besides.
import type { infer as Infer, ZodType } from "zod";
import type {
	ModelCapabilities,
	ProviderModelInfo,
	ProviderModelsPage,
	ProviderModelsQuery,
} from "./model.ts";
import type { ProviderMessage, ProviderReasoningDetail, ProviderToolCallPart } from "./provider-message.ts";
import type { ToolArgs, ToolDefinition, ToolTenvs } from "./tool.ts";

/** A tool as a provider gets it. */
export interface ProviderTool {
	/** Always `function`. */
	type: "function";
	/** Its name, what it does, and its arguments as JSON Schema. */
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
	/** Name of the model, in the provider's words. */
	model: string;
	/** The conversation, its system message first. */
	messages: ProviderMessage[];
	/** The tools that the model can call. */
	tools?: ProviderTool[];
	/** Whether the model may call tools, must not, or must. */
	toolChoice?: "auto" | "none" | "required" | { name: string };
	/** Whether it may call several at once. */
	parallelToolCalls?: boolean;
	/** Most tokens of its answer. */
	maxOutputTokens?: number;
	/** How freely it chooses words. */
	temperature?: number;
	/** Chooses among the likeliest words of that share. */
	topP?: number;
	/** Chooses among that many of the likeliest words. */
	topK?: number;
	/** Texts that end its answer. */
	stopSequences?: string[];
	/** How much it thinks: a level from 0 to 100. */
	reasoning?: {
		level?: number;
		effort?: "low" | "medium" | "high";
		maxTokens?: number;
		exclude?: boolean;
		include?: boolean;
	};
	/** The form of its answer. */
	responseFormat?: { type: "text" } | { type: "json"; schema?: Record<string, unknown> };
	/** Fires when the answer is no longer needed. */
	signal?: AbortSignal;
	/** Options of the provider's own. */
	providerOptions?: Record<string, unknown>;
}

/** Why a model ended its answer. */
export type ProviderFinishReason = "stop" | "tool_calls" | "length" | "content_filter";

/** Tokens that a call took. */
export interface ProviderUsage {
	/** Tokens of the request. */
	promptTokens: number;
	/** Tokens of the answer. */
	completionTokens: number;
	/** Tokens of both. */
	totalTokens: number;
	/** Tokens of reasoning among those of the answer. */
	reasoningTokens?: number;
	/** Tokens of the request that were cached. */
	cachedTokens?: number;
	/** The cost in US dollars, if the provider reports it. */
	cost?: number;
}

/** An image that a model made. */
export interface ProviderGeneratedImage {
	/** Unique in the answer. */
	id?: string;
	/** Its bytes in base64, or a data URL. */
	data: string;
	/** Its MIME type. */
	mediaType: string;
	/** The prompt it was made from. */
	revisedPrompt?: string;
}

/** A search of the web that the provider made. */
export interface ProviderWebSearchResult {
	/** Unique in the answer. */
	id: string;
	/** How far it is. */
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
	/** Its name, in the provider's words. */
	name: string;
	/** The older name of `name`. */
	type?: string;
	/** Who executed it. */
	provider?: string;
	/** Unique in the answer. */
	id: string;
	/** How far it is. */
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
	/** Data of the provider's own, JSON only. */
	metadata?: Record<string, unknown>;
}

/** The answer of a model. */
export interface ProviderResponse {
	/** The text. */
	content: string | null;
	/** What it thought. */
	reasoning?: string | null;
	/** The model's reasoning, in the form that the provider expects back. */
	reasoningDetails?: ProviderReasoningDetail[];
	/** The tools it calls. */
	toolCalls?: ProviderToolCallPart[];
	/** Images it made. */
	images?: ProviderGeneratedImage[];
	/** Searches that the provider made. */
	webSearches?: ProviderWebSearchResult[];
	/** Tools that the provider executed. */
	providerTools?: ProviderExecutedToolResult[];
	/** Why it ended. */
	finishReason: ProviderFinishReason;
	/** What it took. */
	usage: ProviderUsage;
	/** Data of the provider's own. */
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

/** Why a provider failed. `rate_limit`, `server_error` and `timeout` may succeed when tried again. */
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
	/** What it took. */
	usage: ProviderUsage;
	/** Data of the provider's own. */
	metadata?: Record<string, unknown>;
}

/** A request as it goes to the provider, without keys. */
export interface InspectedRequest {
	/** Its body. */
	body: Record<string, unknown>;
	/** The conversation in the provider's form. */
	messages?: unknown[];
	/** Where it goes. */
	url?: string;
	/** Data of the provider's own. */
	metadata?: Record<string, unknown>;
}

/**
 * A provider at work.
 */
export interface ProviderInstance {
	/** Its name. */
	readonly name: string;
	/** The version of this interface. */
	readonly specificationVersion: "1";
	/** Whether it has that model; all by default. */
	supportsModel?(modelId: string): boolean;
	/** Asks a model and gives the whole answer. */
	generate(request: ProviderRequest): Promise<ProviderResponse>;
	/** Asks a model and gives the answer in pieces. */
	stream(
		request: ProviderRequest,
	): AsyncIterable<ProviderStreamChunk> | Promise<AsyncIterable<ProviderStreamChunk>>;
	/** The models it has. */
	getModels?(filter?: string): Promise<ProviderModelInfo[]>;
	/** The models it has, page by page. */
	getModelsPage?(query?: ProviderModelsQuery): Promise<ProviderModelsPage>;
	/** The capabilities of a model; null for unknown. */
	getModelCapabilities?(modelId: string): Promise<ModelCapabilities | null>;
	/** Tools that it executes itself. */
	getTools?(
		modelId?: string,
	):
		| Record<string, ToolDefinition<unknown, ToolArgs | null, ToolTenvs | null>>
		| Promise<Record<string, ToolDefinition<unknown, ToolArgs | null, ToolTenvs | null>>>;
	/** URL of its icon, or of a model's. */
	getIcon?(modelId?: string): string | undefined;
	/** Further metadata of an answer, such as its cost. */
	getResponseMetadata?(
		summary: ResponseSummary,
		signal?: AbortSignal,
	): Promise<Record<string, unknown> | null>;
	/** The request as it would go out, for logs. */
	inspectRequest?(request: ProviderRequest): Promise<InspectedRequest> | InspectedRequest;
}

/** The older name of {@link ProviderInstance}. */
export type LLMProviderInterface = ProviderInstance;

/** The arguments of a provider factory. */
export interface ProviderFactoryConfig {
	/** Its key. */
	apiKey?: string;
	/** Where it is. */
	baseUrl?: string;
	/** Milliseconds it may take. */
	timeout?: number;
	/** Options of its own. */
	[option: string]: unknown;
}

/** Makes a provider. */
export type ProviderFactory = (config: ProviderFactoryConfig) => ProviderInstance;

/** Creates a provider, and declares the `providerOptions` that it accepts. */
export interface ProviderFactoryWithOptions<Options extends ZodType = ZodType> {
	(config: ProviderFactoryConfig): ProviderInstance;
	/** The schema of `providerOptions`; anything by default. */
	providerOptions?: Options;
	/** Environment value that holds its key, such as `OPENAI_API_KEY`. */
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
