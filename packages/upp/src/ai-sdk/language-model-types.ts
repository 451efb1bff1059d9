// The AI SDK's language model interface as structural types, without a dependency on its package. The type test next to
// this file compares them with the real ones.

/** Metadata and options, keyed by the provider's name. */
export type AISDKMetadata = Record<string, Record<string, any>>;

/** A model of the AI SDK (LanguageModelV2, V3 or V4). */
export interface LanguageModel {
	/** The version of the AI SDK's model interface that it implements. */
	readonly specificationVersion: "v2" | "v3" | "v4";
	/** The provider's name in the AI SDK, such as `openai.responses`. */
	readonly provider: string;
	/** The model's id at the provider. */
	readonly modelId: string;
	/** Returns a whole answer. */
	doGenerate(options: any): PromiseLike<any>;
	/** Returns an answer as a stream of parts. */
	doStream(options: any): PromiseLike<{ stream: ReadableStream<any> }>;
}

/** The form of a tool's result for the model. */
export interface ResultOutput {
	type: string;
	value?: unknown;
	reason?: string;
	providerOptions?: AISDKMetadata;
}

/** One part of a message in the AI SDK's prompt. `type` determines which members are set. */
export interface PromptPart {
	type: string;
	/** The provider's name for the type of a `custom` part. */
	kind?: string;
	text?: string;
	data?: unknown;
	mediaType?: string;
	filename?: string;
	toolCallId?: string;
	toolName?: string;
	input?: unknown;
	output?: ResultOutput;
	providerExecuted?: boolean;
	/** For a `tool-approval-response`: the id of the provider's question, and the decision. */
	approvalId?: string;
	approved?: boolean;
	reason?: string;
	providerOptions?: AISDKMetadata;
}

/** One message of the AI SDK's prompt. */
export interface PromptMessage {
	role: "system" | "user" | "assistant" | "tool";
	content: string | PromptPart[];
	providerOptions?: AISDKMetadata;
}

/** The options of a call to an AI SDK model. */
export interface CallOptions {
	prompt: PromptMessage[];
	maxOutputTokens?: number;
	temperature?: number;
	stopSequences?: string[];
	topP?: number;
	topK?: number;
	presencePenalty?: number;
	frequencyPenalty?: number;
	seed?: number;
	reasoning?: unknown;
	responseFormat?: { type: "json"; schema?: unknown; name?: string; description?: string };
	tools?: unknown[];
	toolChoice?: { type: "auto" | "none" | "required" } | { type: "tool"; toolName: string };
	includeRawChunks?: boolean;
	abortSignal?: AbortSignal;
	headers?: Record<string, string | undefined>;
	providerOptions?: AISDKMetadata;
}

/** Usage in the format of V2 (numbers) or of V3 and V4 (nested). */
export interface AISDKUsage {
	inputTokens?:
		| number
		| {
				total?: number | undefined;
				noCache?: number | undefined;
				cacheRead?: number | undefined;
				cacheWrite?: number | undefined;
		  }
		| undefined;
	outputTokens?: number | { total?: number | undefined; reasoning?: number | undefined } | undefined;
	totalTokens?: number | undefined;
	cachedInputTokens?: number | undefined;
	reasoningTokens?: number | undefined;
}

/** Why a model stopped, in the format of V2 (a word) or of V3 and V4. */
export type AISDKFinishReason = string | { unified: string; raw?: string | undefined };

/** One part of a model's stream. `type` determines which members are set. */
export interface StreamPart {
	type: string;
	id?: string;
	delta?: string;
	toolName?: string;
	toolCallId?: string;
	input?: string;
	result?: unknown;
	isError?: boolean;
	preliminary?: boolean;
	providerExecuted?: boolean;
	mediaType?: string;
	data?: unknown;
	usage?: AISDKUsage;
	finishReason?: AISDKFinishReason;
	error?: unknown;
	modelId?: string;
	providerMetadata?: AISDKMetadata;
	[member: string]: unknown;
}
