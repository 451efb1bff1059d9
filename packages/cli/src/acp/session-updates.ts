/** Converts the events of a session's runs, and its history, to updates for an editor. */
import type { SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import type { AnyMessage, AssistantContent, Message, ToolCall, UserContent } from "@holdfast/upp";
import type { RunEvent } from "holdfast";
import { nestedLines, planOf } from "../render/index.ts";
import { formatDuration, oneLine } from "../terminal/index.ts";
import type { Place } from "../work/index.ts";
import { CallUpdates } from "./call-updates.ts";

/** Maximum number of characters of a wait's name. */
const longestTag = 160;

export class SessionUpdates {
	readonly calls: CallUpdates;
	/** Ids of calls that only update the plan. */
	readonly #plans = new Set<string>();
	/** Whether the current answer was streamed. */
	#isStreamed = false;

	constructor(dir: string | undefined) {
		this.calls = new CallUpdates(dir);
	}

	/** Returns the updates of a history, oldest first. */
	*ofHistory(messages: readonly Message[]): Generator<SessionUpdate> {
		// An editor that loads a session again no longer has its calls.
		this.calls.forget();
		this.#plans.clear();
		for (const message of messages as readonly AnyMessage[]) {
			if (message.type === "user")
				for (const content of message.content) yield* chunkOf("user_message_chunk", content);
			if (message.type === "assistant") {
				yield* this.#answer(message.content);
				for (const call of message.toolCalls ?? []) yield* this.#announce(call);
			}
			if (message.type === "tool_result")
				for (const { toolCallId, result, isError } of message.results)
					yield* this.#ended(toolCallId, isError === true ? "failed" : "completed", result);
		}
	}

	/** Returns the updates of an event. */
	*ofEvent(event: RunEvent, place: Place): Generator<SessionUpdate> {
		switch (event.type) {
			case "run_start":
				if (event.attempt > 1 && event.reason !== "answered" && event.afterWait !== true)
					yield notice("info", `Resumed (attempt ${event.attempt})`);
				return;
			case "input":
				// The editor shows its own prompts.
				if (place === "elsewhere")
					for (const block of (event.message as { readonly content?: readonly UserContent[] }).content ?? [])
						yield* chunkOf("user_message_chunk", block);
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
				for (const call of event.message.toolCalls ?? []) yield* this.#announce(call);
				return;
			case "model_retry":
				yield notice(
					"warning",
					`The model failed; trying again in ${formatDuration(event.delay)}`,
					event.error.message,
				);
				return;
			case "tool_start":
				yield* this.#announce(event.call);
				if (!this.#plans.has(event.call.toolCallId)) yield* this.calls.started(event.call, event.input);
				return;
			case "tool_delta":
				yield* this.calls.output(event.toolCallId, event.delta);
				return;
			case "nested":
				yield* this.calls.output(
					event.toolCallId,
					nestedLines(event.event)
						.map((line) => `${line}\n`)
						.join(""),
				);
				return;
			case "tool_end":
				yield* this.#announce(event.call);
				yield* this.#ended(
					event.call.toolCallId,
					event.outcome === "done" ? "completed" : "failed",
					event.result,
				);
				return;
			case "waiting": {
				const { until, tag, model } = event.wait ?? {};
				if (until === undefined) return;
				const what = model === undefined ? oneLine(tag ?? "a time", longestTag) : "the provider";
				yield notice("warning", `Waiting for ${what} until ${new Date(until).toLocaleTimeString("en-GB")}`);
				return;
			}
			default:
				return;
		}
	}

	/** Returns the announcement of a call, or the plan that it updates. */
	*#announce(call: ToolCall): Generator<SessionUpdate> {
		const plan = planOf(call.toolName, call.arguments);
		if (plan === undefined) {
			yield* this.calls.announce(call);
			return;
		}
		if (this.#plans.has(call.toolCallId)) return;
		this.#plans.add(call.toolCallId);
		const entries = plan.map(({ text: content, status }) => ({
			content,
			priority: "medium" as const,
			status: status === "done" ? ("completed" as const) : status,
		}));
		yield { sessionUpdate: "plan", entries };
	}

	*#ended(toolCallId: string, status: "completed" | "failed", result: unknown): Generator<SessionUpdate> {
		if (!this.#plans.has(toolCallId)) yield* this.calls.ended(toolCallId, status, result);
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
