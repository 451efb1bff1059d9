// The models of a runner: the client interface of the runtime, and the provider that declares its capabilities.
import type { LanguageModel, ModelReference } from "@holdfast/upp";

/** A message of a prompt. Outputs of tools are in messages of the role `tool`, nowhere else. */
export interface ChatMessage {
	readonly role: "system" | "user" | "assistant" | "tool";
	readonly content: string | readonly ChatPart[];
	/** The tool whose output it is, where the role is `tool`. */
	readonly toolId?: string;
}

/** A piece of a message that is not text alone. */
export type ChatPart =
	| { readonly type: "text"; readonly text: string }
	/** Base64. */
	| { readonly type: "image"; readonly data: string; readonly mediaType: string };

/** The options of a call. */
export interface ModelCallOptions {
	/** The requested model. Default: the client's own. */
	readonly model?: string;
	/** Tokens of output at most. */
	readonly maxTokens?: number;
	readonly temperature?: number;
	/** A schema the reply must meet, where the client can. */
	readonly schema?: Record<string, unknown>;
	/** Seed of a model that can be deterministic. */
	readonly seed?: number;
	/** Cancels the request. */
	readonly signal?: AbortSignal;
}

/** Tokens of one call. */
export interface CallUsage {
	readonly inputTokens: number;
	readonly outputTokens: number;
}

/** The answer to a call. */
export interface ModelResponse {
	readonly text: string;
	/** The model that answered. */
	readonly model?: string;
	/** Absent where the client does not report any. */
	readonly usage?: CallUsage;
	readonly finishReason?: string;
}

/** A piece of a reply; the last may carry the usage. */
export interface TokenChunk {
	readonly text: string;
	readonly usage?: CallUsage;
	readonly model?: string;
}

/** A client's description of its model. */
export interface ModelInfo {
	readonly name: string;
	readonly maxTokens?: number;
	readonly supportsStreaming?: boolean;
}

/** The document's model client. */
export interface LLMClient {
	/** Set by stubs and recordings, which give the same answers for the same prompts. */
	readonly deterministic?: boolean;
	call(promptOrMessages: string | readonly ChatMessage[], options?: ModelCallOptions): Promise<ModelResponse>;
	stream?(
		promptOrMessages: string | readonly ChatMessage[],
		options?: ModelCallOptions,
	): AsyncIterable<TokenChunk>;
	getModelInfo?(): Promise<ModelInfo>;
	/** Connects, where there is something to connect to. */
	start?(): Promise<void>;
	/** Rejects where it cannot be used. */
	health?(): Promise<void>;
	/** Cancels what is in flight. Called twice it does nothing. */
	close?(): Promise<void>;
}

/** US dollars for a million tokens. */
export interface TokenPrice {
	readonly input: number;
	readonly output: number;
}

/** A client, and its capabilities. A missing capability is not advertised. */
export interface ModelProvider {
	/** Unique among the providers of an agent. */
	readonly id: string;
	/** A client, or a model of the AI SDK. */
	readonly client: LLMClient | LanguageModel | ModelReference;
	/** Higher ones are tried first; of equal ones the earlier. Default: 0. */
	readonly priority?: number;
	/** Model names it serves. Default: the one that `getModelInfo` gives, if any. */
	readonly models?: readonly string[];
	/** What it takes. Default: text. */
	readonly modalities?: readonly ("text" | "image")[];
	/** Tokens of output at most. */
	readonly maxTokens?: number;
	readonly price?: TokenPrice;
}

/** The capabilities that a call requires of a provider. */
export interface ModelRequest {
	readonly messages: readonly ChatMessage[];
	readonly model?: string;
	readonly modality?: "text" | "image";
	readonly maxTokens?: number;
	/** US dollars that the call may cost at most, as estimated. */
	readonly costCeiling?: number;
	/** The purpose of the call, named by the caller. Default: `call`. */
	readonly purpose?: string;
	/** The template the prompt was made of. */
	readonly promptRef?: { readonly id: string; readonly version: string };
}

/** Scores a capable provider for a request: the highest gets it; NaN and -Infinity exclude it. */
export type ScoreProvider = (provider: ModelProvider, request: ModelRequest) => number;
