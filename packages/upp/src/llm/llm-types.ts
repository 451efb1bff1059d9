// The options and results of `llm()`.

import type { LanguageModel } from "../ai-sdk/index.ts";
import type { ContentBlock, JSONSchema, Message, Tool, ToolUseStrategy } from "../messages/index.ts";
import type {
	BoundLLMModel,
	LLMCapabilities,
	ModelReference,
	ProviderConfig,
	RetryInfo,
	System,
} from "../model/index.ts";
import type { StreamEvent } from "../stream/index.ts";
import type { Thread } from "../thread/index.ts";
import type { Turn } from "../turn/index.ts";

/** The options of `llm()`. */
export interface LLMOptions {
	/** A reference created by a provider, or an AI SDK model. */
	model: ModelReference | LanguageModel;
	/** The key, URL, time limits and retries of the provider. Default: those of the model or the environment. */
	config?: ProviderConfig;
	/** Model parameters such as `temperature`, sent with each request. Default: the model's. */
	params?: Record<string, unknown>;
	/** The system prompt: text, or parts with settings of their own. */
	system?: System;
	/** Tools that the model may call. `llm()` runs them. Default: none. */
	tools?: readonly Tool[];
	/** Hooks around tool calls, and the limit of rounds. Default: every call runs, without a limit. */
	toolStrategy?: ToolUseStrategy;
	/** The schema that the answer must match; the parsed answer is `turn.data`. */
	structure?: JSONSchema;
	/** Called before each retry. Must not throw. */
	onRetry?(info: RetryInfo): void;
}

/** The accepted forms of a conversation. */
export type LLMHistory = readonly Message[] | Thread;

/** The accepted forms of a user's input. */
export type LLMInput = string | Message | ContentBlock;

/** A model with its options, ready to be called. */
export interface LLMInstance {
	/**
	 * Calls the model, runs the tools that it calls, and repeats until it answers. @throws UPPError for a failed
	 * model call.
	 */
	generate(historyOrInput: LLMHistory | LLMInput, ...inputs: LLMInput[]): Promise<Turn>;
	/** Like `generate`, with events while the model works. */
	stream(historyOrInput: LLMHistory | LLMInput, ...inputs: LLMInput[]): StreamResult;
	/** The model, without these options. */
	readonly model: BoundLLMModel;
	/** The system prompt as one text. */
	readonly system: string | undefined;
	/** The model parameters of the options. */
	readonly params: Record<string, unknown> | undefined;
	/** The capabilities of the model. */
	readonly capabilities: LLMCapabilities;
}

/** A turn that is being streamed. `turn` settles even if the events are not read. */
export interface StreamResult<Data = unknown> extends AsyncIterable<StreamEvent> {
	/** The whole turn. Rejects with the error if the model call fails. */
	readonly turn: Promise<Turn<Data>>;
	/** Cancels the model call and the tools. `turn` rejects with code CANCELLED. */
	abort(): void;
}
