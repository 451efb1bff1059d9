// Document 3's events as events of AG-UI (reading 4). Pure: the same events give the same ones. It is fed a run from its
// beginning, over all its suspensions; each of them is a run of its own in AG-UI, and ends with an outcome.

import type { PendingSessionCall, SessionMessage } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import { approvalIdOf } from "../ai-sdk/index.ts";
import { waitText } from "../service/index.ts";
import type { AgUiEvent, AgUiInterrupt, AgUiUsage } from "./ag-ui-event.ts";

type Event = LoggedEvent["event"];
type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;

/** The run that is projected, and its thread. */
export interface AgUiRun {
	readonly threadId: string;
	readonly runId: string;
	/** Calls whose results the front end has sent: it has them already. */
	readonly answered?: ReadonlySet<string>;
}

/** What an approval is answered with. */
const approvalSchema = {
	type: "object",
	required: ["approved"],
	properties: { approved: { type: "boolean" }, reason: { type: "string" } },
} as const;

export class AgUiProjection {
	readonly #run: AgUiRun;
	#events: AgUiEvent[] = [];
	/** The message that is being emitted, and the block within it. */
	#messageId = "";
	#block = "";
	#blocks = 0;
	/** Calls of the message that were begun, by their position. */
	readonly #begun = new Map<number, string>();
	/** All calls that were emitted. */
	readonly #emitted = new Set<string>();
	readonly #settled = new Set<string>();
	/** The arguments of calls as they were streamed, by their ids. */
	readonly #inputs = new Map<string, string>();
	#usage = new Map<string, AgUiUsage>();

	constructor(run: AgUiRun) {
		this.#run = run;
	}

	/** The events of an event. */
	add({ id, event }: LoggedEvent): readonly AgUiEvent[] {
		this.#events = [];
		switch (event.type) {
			case "session_start":
				this.#usage = new Map();
				break;
			case "message_start":
				this.#messageId = `message-${id}`;
				this.#blocks = 0;
				this.#begun.clear();
				break;
			case "message_end":
				this.#messageEnded(event.message, id);
				break;
			case "text_start":
				this.#beginBlock();
				this.#emit({ type: "TEXT_MESSAGE_START", messageId: this.#block, role: "assistant" });
				break;
			case "text_delta":
				this.#emit({ type: "TEXT_MESSAGE_CONTENT", messageId: this.#block, delta: event.delta });
				break;
			case "text_end":
				this.#emit({ type: "TEXT_MESSAGE_END", messageId: this.#block });
				break;
			case "thinking_start":
				this.#block = `reasoning-${id}`;
				this.#emit({ type: "REASONING_START", messageId: this.#block });
				this.#emit({ type: "REASONING_MESSAGE_START", messageId: this.#block, role: "reasoning" });
				break;
			case "thinking_delta":
				this.#emit({ type: "REASONING_MESSAGE_CONTENT", messageId: this.#block, delta: event.delta });
				break;
			case "thinking_end":
				this.#emit({ type: "REASONING_MESSAGE_END", messageId: this.#block });
				this.#emit({ type: "REASONING_END", messageId: this.#block });
				break;
			case "toolcall_start":
				if (event.id !== undefined && event.name !== undefined)
					this.#beginCall(event.index, event.id, event.name);
				break;
			case "toolcall_delta": {
				const toolCallId = this.#begun.get(event.index);
				if (toolCallId !== undefined && event.delta !== "")
					this.#emit({ type: "TOOL_CALL_ARGS", toolCallId, delta: event.delta });
				break;
			}
			case "toolcall_end":
				this.#endCall(event);
				break;
			case "tool_execution_delta": {
				const { toolCallId, delta } = event;
				this.#emit({ type: "CUSTOM", name: "tool_execution_delta", value: { toolCallId, delta } });
				break;
			}
			case "tool_execution_end":
				this.#result(event.toolCallId, event.output, id);
				break;
			case "waiting": {
				const { type: _, sessionId: __, ...wait } = event;
				this.#emit({ type: "CUSTOM", name: "waiting", value: { ...wait, text: waitText(wait) } });
				break;
			}
			case "resumed":
				this.#emit({ type: "CUSTOM", name: "resumed", value: null });
				break;
			case "awaiting_tool_execution":
				for (const call of event.toolCalls) this.#unspoken(call);
				break;
			case "execute_complete":
				this.#ended(event);
				break;
			case "session_end":
			case "history_cut":
			case "tool_execution_start":
			case "error":
				break;
			default:
				event satisfies never;
				break;
		}
		return this.#events;
	}

	#emit(event: AgUiEvent): void {
		this.#events.push(event);
	}

	/** The first text of a message has the message's id, to which its calls belong. */
	#beginBlock(): void {
		this.#block = this.#blocks === 0 ? this.#messageId : `${this.#messageId}-${this.#blocks}`;
		this.#blocks++;
	}

	#beginCall(index: number, toolCallId: string, toolCallName: string): void {
		this.#begun.set(index, toolCallId);
		this.#emitted.add(toolCallId);
		const parentMessageId = this.#messageId;
		this.#emit({ type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId });
	}

	#endCall({ index, toolCall: { id: toolCallId, name, arguments: given } }: EventOf<"toolcall_end">): void {
		this.#inputs.set(toolCallId, JSON.stringify(given));
		if (!this.#begun.has(index)) {
			this.#beginCall(index, toolCallId, name);
			this.#emit({ type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(given) });
		}
		this.#emit({ type: "TOOL_CALL_END", toolCallId });
	}

	/** A call that no message of the session has: a sub-agent's, or one of the strategy's own. */
	#unspoken({ id: toolCallId, name: toolCallName, arguments: given }: PendingSessionCall): void {
		if (this.#emitted.has(toolCallId)) return;
		this.#emitted.add(toolCallId);
		const parentMessageId = this.#messageId;
		this.#emit({ type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId });
		this.#emit({ type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(given) });
		this.#emit({ type: "TOOL_CALL_END", toolCallId });
	}

	#result(toolCallId: string, content: string, id: string): void {
		if (this.#settled.has(toolCallId)) return;
		this.#settled.add(toolCallId);
		if (this.#run.answered?.has(toolCallId) === true) return;
		this.#emit({ type: "TOOL_CALL_RESULT", messageId: `result-${id}`, toolCallId, role: "tool", content });
	}

	#messageEnded(message: SessionMessage, id: string): void {
		if (message.role === "tool") this.#result(message.toolCallId, message.output, id);
		if (message.role !== "assistant") return;
		const { model, usage } = message;
		const sum = this.#usage.get(model);
		this.#usage.set(model, {
			...(model === "" ? {} : { model }),
			inputTokens: (sum?.inputTokens ?? 0) + usage.inputTokens,
			outputTokens: (sum?.outputTokens ?? 0) + usage.outputTokens,
			totalTokens: (sum?.totalTokens ?? 0) + usage.totalTokens,
		});
	}

	#ended({ status, pendingToolCalls = [], error, stopReason }: EventOf<"execute_complete">): void {
		if (status === "error") {
			const { message = "The run failed.", code = "run_failed" } = error ?? {};
			this.#emit({ type: "RUN_ERROR", message, code });
			return;
		}
		const { threadId, runId } = this.#run;
		const usage = this.#usage.size === 0 ? {} : { usage: [...this.#usage.values()] };
		if (status === "aborted") {
			this.#emit({ type: "RUN_FINISHED", threadId, runId, outcome: { type: "cancelled" }, ...usage });
			return;
		}
		const interrupts = pendingToolCalls.filter(({ approval }) => approval === true).map(interruptOf);
		this.#changedInputs(pendingToolCalls);
		const pendingToolCallIds = pendingToolCalls.map(({ id }) => id);
		const outcome =
			interrupts.length > 0
				? ({ type: "interrupt", interrupts } as const)
				: ({
						type: "success",
						...(pendingToolCallIds.length > 0 ? { pendingToolCallIds } : {}),
					} as const);
		const result = stopReason === undefined ? {} : { result: { stopReason } };
		this.#emit({ type: "RUN_FINISHED", threadId, runId, outcome, ...result, ...usage });
	}

	/** Emits what tools of the front end get, where hooks or defaults made it differ from the arguments that were streamed. */
	#changedInputs(calls: readonly PendingSessionCall[]): void {
		for (const { id: toolCallId, arguments: input } of calls)
			if (this.#inputs.get(toolCallId) !== JSON.stringify(input))
				this.#emit({ type: "CUSTOM", name: "tool_input", value: { toolCallId, input } });
	}
}

function interruptOf({ id, name, runId, arguments: input }: PendingSessionCall): AgUiInterrupt {
	return {
		id: approvalIdOf(runId, id),
		reason: "tool_approval",
		message: `The tool "${name}" waits for approval.`,
		toolCallId: id,
		metadata: { toolName: name, input },
		responseSchema: approvalSchema,
	};
}
