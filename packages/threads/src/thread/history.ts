// Builds the messages of a request from those of the thread: as one side sees them, with calls and results in pairs. Each
// message is converted once; the only further cost of a request is traversing the list when the provider reads it (keeps
// I5).
import { type AssistantMessage, cutResult } from "@holdfast/upp";
import { assistantMessage } from "../providers/index.ts";
import type {
	AttachmentRef,
	ContentPart,
	HookToolCall,
	LLMMessage,
	Message,
	ProviderAssistantMessage,
	ProviderMessage,
	ProviderToolMessage,
} from "../types/index.ts";
import type { Side } from "./message-data.ts";
import type { Row } from "./row.ts";

/** Options for viewing the history. */
export interface HistoryView {
	readonly side: Side;
	readonly isDual: boolean;
	/** Whether calls of earlier turns are included. */
	readonly includePastTools: boolean;
	/** Seq of the entry that started the turn. */
	readonly turnSeq: number;
	/** Returns the response of the other side's turn, if a result of a turn-ending tool contains it. */
	response(row: Row): string | undefined;
	/** Returns the bytes of a file in base64; undefined if it is shown as text. */
	image(file: AttachmentRef): string | undefined;
}

/** Returns the messages in the form that a provider receives. */
export function providerHistory(rows: readonly Row[], view: HistoryView): ProviderMessage[] {
	const made: ProviderMessage[] = [];
	for (const [at, row] of rows.entries()) {
		const { role } = row.message;
		const isOther = view.isDual && (role === "assistant" || role === "tool") && row.side !== view.side;
		if (isOther) {
			const text = role === "tool" ? view.response(row) : row.message.content;
			if (text !== undefined && text !== null && text !== "") made.push({ role: "user", content: text });
		} else if (role === "assistant") {
			const results = resultsOf(rows, at);
			const message = assistantOf(row, view, results);
			if (message === undefined) continue;
			made.push(message);
			const shown = new Set((message.toolCalls ?? []).map(({ id }) => id));
			for (const [id, result] of results) if (shown.has(id)) made.push(toolMessage(result, view));
		} else if (role === "system") made.push({ role: "system", content: row.message.content ?? "" });
		else if (role === "user") {
			const content = contentOf(row.message, view);
			made.push(
				view.isDual && view.side === "b"
					? {
							role: "assistant",
							content: typeof content === "string" ? content : (row.message.content ?? ""),
						}
					: { role: "user", content },
			);
		}
		// A provider would refuse a result without its call, so both or neither are included.
	}
	return made;
}

/** Returns the results that follow a message, the first for each call: providers repeat the ids of calls. */
function resultsOf(rows: readonly Row[], at: number): ReadonlyMap<string, Row> {
	const results = new Map<string, Row>();
	for (let next = at + 1; rows[next]?.message.role === "tool"; next++) {
		const row = rows[next] as Row;
		const id = row.message.tool_call_id ?? "";
		if (!results.has(id)) results.set(id, row);
	}
	return results;
}

const plainAssistants = new WeakMap<Row, ProviderAssistantMessage>();

function assistantOf(
	row: Row,
	view: HistoryView,
	answered: ReadonlyMap<string, Row>,
): ProviderAssistantMessage | undefined {
	const known = plainAssistants.get(row) ?? assistantOfRow(row);
	plainAssistants.set(row, known);
	const calls = known.toolCalls ?? [];
	const isShown = view.includePastTools || row.seq > view.turnSeq;
	const shown = isShown ? calls.filter(({ id }) => answered.has(id)) : [];
	// Side B sees a user's message with the assistant's role, as a message of the other side.
	if (view.isDual && view.side === "b" && row.source?.type === "user") return undefined;
	if (shown.length === calls.length) return known;
	const { toolCalls: _, ...rest } = known;
	if (shown.length > 0) return { ...rest, toolCalls: shown };
	return (rest.content ?? "") === "" ? undefined : { role: "assistant", content: rest.content ?? null };
}

function assistantOfRow({ source, message }: Row): ProviderAssistantMessage {
	if (source?.type === "assistant")
		return assistantMessage(source.content, (source as AssistantMessage).toolCalls);
	return assistantOfMessage(message);
}

function assistantOfMessage({ content, tool_calls }: Message): ProviderAssistantMessage {
	const calls = readCalls(tool_calls);
	return {
		role: "assistant",
		content,
		...(calls.length === 0
			? {}
			: {
					toolCalls: calls.map(({ id, function: { name, arguments: args } }) => ({
						id,
						name,
						arguments: readArguments(args),
					})),
				}),
	};
}

function toolMessage({ message, isError }: Row, view: HistoryView): ProviderToolMessage {
	const text = cutResult(message.content ?? "");
	const made: ProviderToolMessage = {
		role: "tool",
		toolCallId: message.tool_call_id ?? "",
		toolName: message.name ?? "",
		content: isError === true ? { type: "error", error: text } : text,
	};
	const attachments = (message.attachments ?? []).flatMap((file) => {
		const data = view.image(file);
		return data === undefined
			? []
			: [{ type: "image" as const, data, mediaType: file.mimeType, name: file.name }];
	});
	const unseen = (message.attachments ?? []).filter((file) => view.image(file) === undefined);
	if (unseen.length > 0 && isError !== true)
		made.content = [text, ...unseen.map(placeholder)].filter((each) => each !== "").join("\n");
	return attachments.length === 0 ? made : { ...made, attachments };
}

function contentOf({ content, attachments = [] }: Message, view: HistoryView): string | ContentPart[] {
	if (attachments.length === 0) return content ?? "";
	const parts: ContentPart[] = content === null || content === "" ? [] : [{ type: "text", text: content }];
	for (const file of attachments) {
		const data = view.image(file);
		if (data === undefined) parts.push({ type: "text", text: placeholder(file) });
		else parts.push({ type: "image", data, mediaType: file.mimeType });
	}
	const isText = parts.every(({ type }) => type === "text");
	return isText ? parts.map((part) => (part.type === "text" ? part.text : "")).join("\n") : parts;
}

function placeholder({ name, path, mimeType }: AttachmentRef): string {
	return `[${isImage({ mimeType }) ? "image" : "file"}: ${name} at ${path}]`;
}

/** Whether a file is an image, by its media type. */
export function isImage({ mimeType }: Pick<AttachmentRef, "mimeType">): boolean {
	return mimeType.startsWith("image/");
}

/** Converts messages to the form that hooks see, and carries along the data that only the provider uses. */
export function llmMessages(messages: readonly ProviderMessage[]): LLMMessage[] {
	return messages.map((message): LLMMessage => {
		switch (message.role) {
			case "assistant": {
				const { content = null, toolCalls, reasoning, reasoningDetails } = message;
				return {
					role: "assistant",
					content,
					...(toolCalls === undefined
						? {}
						: {
								tool_calls: toolCalls.map(({ id, name, arguments: args, extraContent }) => ({
									id,
									type: "function" as const,
									function: { name, arguments: JSON.stringify(args) },
									...(extraContent === undefined ? {} : { extraContent }),
								})),
							}),
					...(reasoning === undefined ? {} : { reasoning }),
					...(reasoningDetails === undefined ? {} : { reasoningDetails }),
				};
			}
			case "tool": {
				const { toolCallId, toolName, content, attachments } = message;
				const isError = typeof content === "object" && "type" in content && content.type === "error";
				const said = typeof content === "string" || Array.isArray(content) ? content : textOf(content);
				return {
					role: "tool",
					content: said,
					name: toolName,
					tool_call_id: toolCallId,
					...(isError ? { isError } : {}),
					...(attachments === undefined ? {} : { attachments }),
				};
			}
			default:
				return { ...message };
		}
	});
}

/** Converts the messages that hooks returned for the provider. */
export function fromLlmMessages(messages: readonly LLMMessage[]): ProviderMessage[] {
	return messages.map((message): ProviderMessage => {
		const { role, content } = message;
		if (role === "system") return { role, content: typeof content === "string" ? content : "" };
		if (role === "user") return { role, content: content ?? "" };
		if (role === "tool") {
			const text = typeof content === "string" ? content : (content ?? "");
			const isError = message.isError === true && typeof text === "string";
			return {
				role,
				toolCallId: message.tool_call_id ?? "",
				toolName: message.name ?? "",
				content: isError ? { type: "error", error: text } : text,
				...(Array.isArray(message.attachments) ? { attachments: message.attachments } : {}),
			};
		}
		const said: ProviderAssistantMessage = { role: "assistant", content };
		if (typeof message.reasoning === "string") said.reasoning = message.reasoning;
		if (Array.isArray(message.reasoningDetails)) said.reasoningDetails = message.reasoningDetails;
		if (message.tool_calls !== undefined)
			said.toolCalls = message.tool_calls.map((call) => {
				const { extraContent } = call as HookToolCall & { extraContent?: Record<string, unknown> };
				const { id, function: called } = call;
				return {
					id,
					name: called.name,
					arguments: readArguments(called.arguments),
					...(extraContent === undefined ? {} : { extraContent }),
				};
			});
		return said;
	});
}

function textOf(content: { type: "text"; text: string } | { type: "error"; error: string }): string {
	return content.type === "error" ? content.error : content.text;
}

/** Returns the calls of a message. */
export function readCalls(text: string | null | undefined): HookToolCall[] {
	if (text === null || text === undefined) return [];
	try {
		const calls: unknown = JSON.parse(text);
		return Array.isArray(calls)
			? (calls as HookToolCall[]).filter((call) => typeof call?.function?.name === "string")
			: [];
	} catch {
		return [];
	}
}

/** Returns the arguments of a call; empty if they are not a JSON object. */
export function readArguments(text: string): Record<string, unknown> {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value)
			? (value as Record<string, unknown>)
			: {};
	} catch {
		return {};
	}
}
