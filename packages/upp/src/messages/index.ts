// The entry point of the messages: content, messages, tools and their calls, and their JSON form.

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
} from "./content.ts";
export {
	type AnyMessage,
	AssistantMessage,
	isAssistantMessage,
	isMessage,
	isToolResultMessage,
	isUserMessage,
	Message,
	type MessageJSON,
	type MessageOptions,
	type MessageType,
	messageToJSON,
	ToolResultMessage,
	UserMessage,
} from "./message.ts";
export { messageFromJSON } from "./message-from-json.ts";
export { asMessage, asMessages, insteadOf } from "./other-messages.ts";
export { deepest, isPlainRecord, storable } from "./storable.ts";
export type {
	BeforeCallDecision,
	JSONSchema,
	ModelTool,
	ProviderTool,
	Tool,
	ToolCall,
	ToolExecution,
	ToolResult,
	ToolUseStrategy,
} from "./tool.ts";
export {
	base64ToBytes,
	bytesToBase64,
	decodeValue,
	type EncodeOptions,
	encodeValue,
	type JSONValue,
} from "./value-codec.ts";
