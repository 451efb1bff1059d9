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
	config?: ProviderConfig;
	params?: Record<string, unknown>;
	/** The system prompt: text, or parts with settings of their own. */
	system?: System;
	tools?: readonly Tool[];
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
	generate(historyOrInput: LLMHistory | LLMInput, ...inputs: LLMInput[]): Promise<Turn>;
	stream(historyOrInput: LLMHistory | LLMInput, ...inputs: LLMInput[]): StreamResult;
	readonly model: BoundLLMModel;
	/** The system prompt as one text. */
	readonly system: string | undefined;
	readonly params: Record<string, unknown> | undefined;
	readonly capabilities: LLMCapabilities;
}

/** A turn that is being streamed. `turn` settles even if the events are not read. */
export interface StreamResult<Data = unknown> extends AsyncIterable<StreamEvent> {
	readonly turn: Promise<Turn<Data>>;
	/** Cancels the model call and the tools. `turn` rejects with code CANCELLED. */
	abort(): void;
}
