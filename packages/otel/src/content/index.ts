// Entry point of the content of spans and log lines.
export { Content, type ContentOptions } from "./content.ts";
export { type MessagePart, messageParts } from "./message-parts.ts";
