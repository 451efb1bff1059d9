// The models of a runner: the client interface of the runtime, and the provider that declares its capabilities.
import type { LanguageModel, ModelReference } from "@holdfast/upp";

/** A message of a prompt. Outputs of tools appear only in messages of the role `tool`. */
export interface ChatMessage {
	/** The author of the message. */
	readonly role: "system" | "user" | "assistant" | "tool";
	/** Text, or text and images. */
	readonly content: string | readonly ChatPart[];
	/** The tool that produced the output, if the role is `tool`. */
	readonly toolId?: string;
}

/** A piece of a message that has more than text. */
export type ChatPart =
	| { readonly type: "text"; readonly text: string }
	/** In base64. */
	| { readonly type: "image"; readonly data: string; readonly mediaType: string };

/** The options of a call. */
export interface ModelCallOptions {
	/** The requested model. Default: the client's own. */
	readonly model?: string;
	/** Maximum number of output tokens. Default: the model's limit. */
	readonly maxTokens?: number;
	/** The randomness of the answer. Default: the model's. */
	readonly temperature?: number;
	/** A schema that the reply must match, if the client supports it. */
	readonly schema?: Record<string, unknown>;
	/** Seed for a model that supports deterministic output. */
	readonly seed?: number;
	/** Cancels the request. */
	readonly signal?: AbortSignal;
}

/** Tokens of one model call. */
export interface CallUsage {
	/** Tokens of the prompt. */
	readonly inputTokens: number;
	/** Tokens of the answer. */
	readonly outputTokens: number;
}

/** The answer to a call. */
export interface ModelResponse {
	/** The answer. */
	readonly text: string;
	/** The model that answered. */
	readonly model?: string;
	/** Absent if the client reports none. */
	readonly usage?: CallUsage;
	/** Why the model stopped, in the words of its service. */
	readonly finishReason?: string;
}

/** A piece of a reply; the last may carry the usage. */
export interface TokenChunk {
	/** The piece; may be empty. */
	readonly text: string;
	/** Tokens of the whole call. */
	readonly usage?: CallUsage;
	/** The model that answers. */
	readonly model?: string;
}

/** A client's description of its model. */
export interface ModelInfo {
	/** The model's name at its service. */
	readonly name: string;
	/** Maximum number of output tokens. Default: unknown. */
	readonly maxTokens?: number;
	/** Whether it can stream. Default: unknown. */
	readonly supportsStreaming?: boolean;
}

/** The model client interface. */
export interface LLMClient {
	/** Set by stubs and recordings, which return the same answers for the same prompts. */
	readonly deterministic?: boolean;
	/** Returns a whole answer. Rejects if the model does not answer. */
	call(promptOrMessages: string | readonly ChatMessage[], options?: ModelCallOptions): Promise<ModelResponse>;
	/** Returns an answer in pieces. Without it, answers arrive at once. */
	stream?(
		promptOrMessages: string | readonly ChatMessage[],
		options?: ModelCallOptions,
	): AsyncIterable<TokenChunk>;
	/** Describes the model. Without it, its name and limits are unknown. */
	getModelInfo?(): Promise<ModelInfo>;
	/** Connects, if the client needs a connection. */
	start?(): Promise<void>;
	/** Rejects if the client cannot be used. */
	health?(): Promise<void>;
	/** Cancels requests in flight. A second call does nothing. */
	close?(): Promise<void>;
}

/** US dollars per million tokens. */
export interface TokenPrice {
	/** For tokens of prompts. */
	readonly input: number;
	/** For tokens of answers. */
	readonly output: number;
}

/** A client and its capabilities. A missing capability is not advertised. */
export interface ModelProvider {
	/** Unique among the providers of an agent. */
	readonly id: string;
	/** A client, or a model of the AI SDK. */
	readonly client: LLMClient | LanguageModel | ModelReference;
	/** Providers with a higher priority are tried first; of equal ones the earlier. Default: 0. */
	readonly priority?: number;
	/** Model names it serves. Default: the one that `getModelInfo` returns, if any. */
	readonly models?: readonly string[];
	/** Its input modalities. Default: text. */
	readonly modalities?: readonly ("text" | "image")[];
	/** Maximum number of output tokens. */
	readonly maxTokens?: number;
	/** The price of its tokens. Default: unknown; its calls then have no cost. */
	readonly price?: TokenPrice;
}

/** The capabilities that a call requires of a provider. */
export interface ModelRequest {
	/** The prompt. */
	readonly messages: readonly ChatMessage[];
	/** The requested model. Default: any. */
	readonly model?: string;
	/** The required input. Default: `image` if a message contains one, otherwise `text`. */
	readonly modality?: "text" | "image";
	/** Maximum number of output tokens. Only providers that can generate as many are eligible. */
	readonly maxTokens?: number;
	/** Maximum estimated cost of the call in US dollars. */
	readonly costCeiling?: number;
	/** The purpose of the call, named by the caller. Default: `call`. */
	readonly purpose?: string;
	/** The template from which the prompt was rendered. */
	readonly promptRef?: { readonly id: string; readonly version: string };
}

/** Scores a capable provider for a request: the highest gets it; NaN and -Infinity exclude it. */
export type ScoreProvider = (provider: ModelProvider, request: ModelRequest) => number;
