// The only door of the model layer.

export type { LanguageModel } from "./ai-sdk/language-model-types.ts";
export { HoldfastError, type HoldfastErrorOptions, isHoldfastError } from "./errors/holdfast-error.ts";
export { ErrorCode, isUPPError, type Modality, UPPError } from "./errors/upp-error.ts";
export { uuid } from "./ids/uuid.ts";
export { bindModel, type ModelBinding, type RequestExtra } from "./llm/bind.ts";
export { llm, llmOptionsOf } from "./llm/llm.ts";
export type {
	BoundLLMModel,
	LLMCapabilities,
	LLMHandler,
	LLMHistory,
	LLMInput,
	LLMInstance,
	LLMOptions,
	LLMRequest,
	LLMResponse,
	RetryInfo,
	StopReason,
} from "./llm/llm-types.ts";
export type { ToolRunContext } from "./llm/tool-round.ts";
export {
	type AssistantContent,
	type AudioBlock,
	type BinaryBlock,
	type ContentBlock,
	type DocumentBlock,
	type DocumentSource,
	type ImageBlock,
	isContentBlock,
	type MediaSource,
	type ProviderMetadata,
	type ReasoningBlock,
	type TextBlock,
	type UserContent,
	type VideoBlock,
} from "./messages/content.ts";
export {
	type AnyMessage,
	AssistantMessage,
	isAssistantMessage,
	isMessage,
	isToolResultMessage,
	isUserMessage,
	Message,
	type MessageOptions,
	type MessageType,
	ToolResultMessage,
	UserMessage,
} from "./messages/message.ts";
export { messageFromJSON } from "./messages/message-from-json.ts";
export { type MessageJSON, messageToJSON } from "./messages/message-json.ts";
export type {
	BeforeCallDecision,
	JSONSchema,
	Tool,
	ToolCall,
	ToolDefinition,
	ToolExecution,
	ToolResult,
	ToolUseStrategy,
} from "./messages/tool.ts";
export { decodeValue, encodeValue, type JSONValue } from "./messages/value-codec.ts";
export { createProvider, type ProviderOptions } from "./provider/create-provider.ts";
export {
	anthropic,
	type FactoryOptions,
	google,
	type OpenAICompatibleOptions,
	type OpenAIOptions,
	openai,
	openaiCompatible,
} from "./provider/factories.ts";
export type {
	KeyStrategy,
	ModelReference,
	Provider,
	ProviderConfig,
	ProviderModalities,
	RetryStrategy,
} from "./provider/provider-types.ts";
export { isLanguageModel, isModelReference, resolveModel } from "./provider/resolve-model.ts";
export { type Sleep, sleepOnTimers } from "./retry/attempts.ts";
export { type BackoffOptions, exponentialBackoff, noRetry } from "./retry/backoff.ts";
export { EventStream } from "./stream/event-stream.ts";
export type {
	LLMStreamResult,
	StreamDelta,
	StreamEvent,
	StreamEventType,
	StreamResult,
} from "./stream/stream-event.ts";
export { Thread, type ThreadJSON, type ThreadOptions } from "./thread/thread.ts";
export { emptyUsage, sumUsage, type TokenUsage } from "./turn/token-usage.ts";
export { createTurn, type Turn, type TurnParts } from "./turn/turn.ts";
