// Entry point of the AI SDK's chat: its requests, history and UI message stream.
export type { CallAnswer } from "./chat-request.ts";
export { chat, loadChat, resumeChat, stopChat } from "./routes.ts";
export { approvalIdOf, readApprovalId } from "./ui-chunk.ts";
