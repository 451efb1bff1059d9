// A message of a thread's list, with its origin.
import type { AnyMessage, AssistantMessage, ToolCall, UserMessage } from "@holdfast/upp";
import { providerKey } from "../providers/index.ts";
import type { AttachmentRef, HookToolCall, Message, ProviderResponse, ToolResult } from "../types/index.ts";
import { dataOf, type MessageData, type Side } from "./message-data.ts";

/** The requests that a finished call makes of the execution, in addition to its result. */
export interface CallSignals {
	/** The agent that takes over the thread. */
	readonly handoff?: string;
	/** The side that asked the execution to stop. */
	readonly stop?: Side;
	/** The side that takes the next step. */
	readonly turn?: Side;
}

/** A recorded result. */
export interface StoredResult extends ToolResult {
	readonly attachments?: AttachmentRef[];
	readonly signals?: CallSignals;
}

/** A message and its origin. Rows are immutable: a changed message is another row. */
export interface Row {
	readonly message: Message;
	readonly source: AnyMessage | undefined;
	/** The id of the engine's message that contains it. */
	readonly sourceId: string;
	/** Seq of its entry. */
	readonly seq: number;
	readonly runId: string;
	readonly side: Side | undefined;
	/** For a result: whether the call failed. */
	readonly isError?: boolean;
	/** For a result: its recorded form. */
	readonly result?: StoredResult;
	/** For a result: the position of the tool call among those of its message. */
	readonly part?: number;
}

/** The origin of a row. */
export interface RowOrigin {
	readonly seq: number;
	readonly runId: string;
	/** Microseconds since 1970. */
	readonly at: number;
}

/** Work that a provider did itself for an answer. */
type ProviderWork = Pick<ProviderResponse, "providerTools" | "webSearches">;

function workOf({ providerTools, webSearches }: ProviderWork): Record<string, unknown> {
	return {
		...(providerTools === undefined ? {} : { provider_tools: providerTools }),
		...(webSearches === undefined ? {} : { web_searches: webSearches }),
	};
}

/** Returns the row of a user or assistant message. */
export function rowOf(source: UserMessage | AssistantMessage, { seq, runId, at }: RowOrigin): Row {
	const data = dataOf(source);
	const calls = source.type === "assistant" ? source.toolCalls : undefined;
	const { text } = source;
	const message: Message = {
		...data.columns,
		id: source.id,
		role: data.role ?? source.type,
		content: data.noContent === true || (text === "" && calls !== undefined) ? null : text,
		name: data.name ?? null,
		tool_calls: calls === undefined || calls.length === 0 ? null : JSON.stringify(calls.map(hookCall)),
		tool_call_id: null,
		...about(data, at),
	};
	const done = source.metadata?.[providerKey] as ProviderWork | undefined;
	if (done?.providerTools !== undefined || done?.webSearches !== undefined)
		message.metadata = { ...message.metadata, ...workOf(done) };
	const side = data.side ?? (source.type === "assistant" ? "a" : undefined);
	return { message, source, sourceId: source.id, seq, runId, side };
}

/** The values for building the row of a result. */
export interface ResultGiven {
	readonly id: string;
	readonly part: number;
	readonly call: Pick<ToolCall, "toolCallId" | "toolName">;
	readonly result: unknown;
	readonly isError: boolean;
	readonly side: Side | undefined;
}

/** Returns the row of a result. */
export function resultRow(
	{ id, part, call, result, isError, side }: ResultGiven,
	{ seq, runId, at }: RowOrigin,
	data: MessageData = {},
): Row {
	const stored = readResult(result, isError);
	const message: Message = {
		...data.columns,
		id: `${id}.${part}`,
		role: "tool",
		content: resultText(stored),
		name: call.toolName,
		tool_calls: null,
		tool_call_id: call.toolCallId,
		...about(
			{
				...data,
				status: data.status ?? (isError ? "failed" : "completed"),
				...(stored.attachments === undefined ? {} : { attachments: stored.attachments }),
			},
			at,
		),
	};
	return { message, source: undefined, sourceId: id, seq, runId, side, isError, part, result: stored };
}

function about(data: MessageData, at: number): Omit<Message, "id" | "role" | "content"> {
	return {
		created_at: at,
		parent_id: data.parentId ?? null,
		depth: data.depth ?? 0,
		silent: data.silent === true,
		metadata: data.metadata ?? {},
		status: data.status ?? "completed",
		attachments: data.attachments ?? [],
	};
}

/** Reads a recorded result; a result of the engine itself becomes an error text. */
export function readResult(result: unknown, isError: boolean): StoredResult {
	const { status } = (result ?? {}) as Partial<StoredResult>;
	if (typeof result === "object" && (status === "success" || status === "error"))
		return result as StoredResult;
	const text = typeof result === "string" ? result : (JSON.stringify(result) ?? "");
	return isError ? { status: "error", error: text } : { status: "success", result: text };
}

/** Returns the text of a result for the model. */
export function resultText({ status, result, error }: ToolResult): string {
	return status === "error" ? (error ?? result ?? "The tool failed.") : (result ?? "");
}

/** Converts a call to the form that hooks and lists show. */
export function hookCall({
	toolCallId,
	toolName,
	arguments: args,
	invalidArguments,
}: ToolCall): HookToolCall {
	return {
		id: toolCallId,
		type: "function",
		function: { name: toolName, arguments: invalidArguments ?? JSON.stringify(args) },
	};
}
