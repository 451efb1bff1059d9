/** Converts the events of a session's runs, and its history, to updates for an editor. */

import { resolve } from "node:path";
import type { SessionUpdate, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import {
	type AnyMessage,
	type AssistantContent,
	cutText,
	type Message,
	type ToolCall,
	type UserContent,
} from "@holdfast/upp";
import type { PendingToolCall, RunEvent } from "holdfast";
import { nestedLines } from "../render/index.ts";
import { formatArguments, formatDuration, oneLine } from "../terminal/index.ts";

/** Maximum number of characters of a call's title. */
const longestTitle = 160;
/** Maximum number of characters of a result that an editor shows. */
const longestResult = 20_000;

/** The assistant's tools, by how editors show them. */
const kinds: Readonly<Record<string, ToolKind>> = {
	list_files: "search",
	search_text: "search",
	read_file: "read",
	write_file: "edit",
	edit_file: "edit",
	fetch_url: "fetch",
	shell: "execute",
};

export class SessionUpdates {
	/** Absolute path of the folder that the assistant's tools work in; undefined for a user's agent. */
	readonly #dir: string | undefined;
	/** Ids of calls that were announced to the editor. */
	readonly #known = new Set<string>();
	/** Whether the current answer was streamed. */
	#isStreamed = false;

	constructor(dir: string | undefined) {
		this.#dir = dir;
	}

	/** Returns the updates of a history, oldest first. */
	*ofHistory(messages: readonly Message[]): Generator<SessionUpdate> {
		// An editor that loads a session again no longer has its calls.
		this.#known.clear();
		for (const message of messages as readonly AnyMessage[]) {
			if (message.type === "user")
				for (const content of message.content) yield* chunkOf("user_message_chunk", content);
			if (message.type === "assistant") {
				yield* this.#answer(message.content);
				for (const call of message.toolCalls ?? []) yield* this.announce(call);
			}
			if (message.type === "tool_result")
				for (const { toolCallId, result, isError } of message.results)
					yield ended(toolCallId, isError === true ? "failed" : "completed", result);
		}
	}

	/** Returns the updates of an event. */
	*ofEvent(event: RunEvent): Generator<SessionUpdate> {
		switch (event.type) {
			case "run_start":
				if (event.attempt > 1 && event.reason !== "answered" && event.afterWait !== true)
					yield notice("info", `Resumed (attempt ${event.attempt})`);
				return;
			case "model_start":
				this.#isStreamed = false;
				return;
			case "model": {
				const { type, delta } = event.event;
				const isThought = type === "reasoning_delta";
				if (!isThought && type !== "text_delta" && type !== "object_delta") return;
				this.#isStreamed ||= !isThought;
				const text = delta.text ?? "";
				if (text !== "") yield said(isThought ? "agent_thought_chunk" : "agent_message_chunk", text);
				return;
			}
			case "message":
				if (!this.#isStreamed) yield* this.#answer(event.message.content);
				this.#isStreamed = false;
				for (const call of event.message.toolCalls ?? []) yield* this.announce(call);
				return;
			case "model_retry":
				yield notice(
					"warning",
					`The model failed; trying again in ${formatDuration(event.delay)}`,
					event.error.message,
				);
				return;
			case "tool_start": {
				yield* this.announce(event.call);
				const { toolCallId } = event.call;
				const rawInput = event.input;
				yield { sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", rawInput };
				return;
			}
			case "tool_end": {
				yield* this.announce(event.call);
				const status = event.outcome === "done" ? "completed" : "failed";
				yield ended(event.call.toolCallId, status, event.result);
				return;
			}
			case "nested":
				for (const line of nestedLines(event.event)) yield notice("info", line);
				return;
			case "waiting": {
				const { until, tag, model } = event.wait ?? {};
				if (until === undefined) return;
				const what = model === undefined ? oneLine(tag ?? "a time", longestTitle) : "the provider";
				yield notice("warning", `Waiting for ${what} until ${new Date(until).toLocaleTimeString("en-GB")}`);
				return;
			}
			default:
				return;
		}
	}

	/** Returns the announcement of a call, unless it was already announced. */
	*announce({ toolCallId, toolName, arguments: input }: ToolCall): Generator<SessionUpdate> {
		if (this.#known.has(toolCallId)) return;
		this.#known.add(toolCallId);
		yield {
			sessionUpdate: "tool_call",
			toolCallId,
			title: oneLine(`${toolName} ${formatArguments(input)}`, longestTitle),
			name: toolName,
			kind: (this.#dir === undefined ? undefined : kinds[toolName]) ?? "other",
			status: "pending",
			rawInput: input,
			locations: this.#locationsOf(toolName, input),
		};
	}

	/**
	 * Returns the state of a sub-agent's call after its answer. The run of this session has no event for the end of such a
	 * call, so an approved one counts as completed when the run has continued.
	 */
	*answered(
		{ toolCallId, path }: PendingToolCall,
		status: "in_progress" | "completed" | "failed",
	): Generator<SessionUpdate> {
		if (path !== undefined) yield { sessionUpdate: "tool_call_update", toolCallId, status };
	}

	#locationsOf(toolName: string, input: unknown): ToolCallLocation[] {
		const { path } = (input ?? {}) as { readonly path?: unknown };
		if (this.#dir === undefined || kinds[toolName] === undefined || typeof path !== "string") return [];
		return [{ path: resolve(this.#dir, path) }];
	}

	*#answer(content: readonly AssistantContent[]): Generator<SessionUpdate> {
		for (const block of content)
			yield* block.type === "reasoning"
				? [said("agent_thought_chunk", block.text)]
				: chunkOf("agent_message_chunk", block as UserContent);
	}
}

/** Returns a note to the user. */
export function notice(severity: "info" | "warning", title: string, description?: string): SessionUpdate {
	return {
		sessionUpdate: "notice",
		severity,
		title,
		...(description === undefined ? {} : { description: oneLine(description, 1_000) }),
	};
}

type Chunk = "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";

function said(sessionUpdate: Chunk, text: string): SessionUpdate {
	return { sessionUpdate, content: { type: "text", text } };
}

/** Returns a part of a message; nothing for kinds that the protocol cannot carry, except their names. */
function chunkOf(sessionUpdate: Chunk, block: UserContent): SessionUpdate[] {
	if (block.type === "text") return block.text === "" ? [] : [said(sessionUpdate, block.text)];
	if (block.type === "image" && block.source.type === "base64")
		return [{ sessionUpdate, content: { type: "image", data: block.source.data, mimeType: block.mimeType } }];
	return [said(sessionUpdate, `[${block.type}: ${block.mimeType}]`)];
}

function ended(toolCallId: string, status: "completed" | "failed", result: unknown): SessionUpdate {
	const text = typeof result === "string" ? result : (JSON.stringify(result, undefined, 2) ?? "");
	const content: ToolCallContent[] =
		text === "" ? [] : [{ type: "content", content: { type: "text", text: cutText(text, longestResult) } }];
	return { sessionUpdate: "tool_call_update", toolCallId, status, content };
}
