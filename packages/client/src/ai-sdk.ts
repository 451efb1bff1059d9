// The entry point for pages that use the AI SDK's `useChat`.
export { HoldfastChatTransport, type HoldfastChatTransportOptions } from "./ai-sdk/chat-transport.ts";
export type { ChatChunk, ChatMessage, ChatWait, ReconnectOptions, SendOptions } from "./ai-sdk/chat-types.ts";
export { someMessageIsAnswered } from "./ai-sdk/some-message-is-answered.ts";
