// Projects execution events to AG-UI events. Pure: the same events give the same result. It receives a run from its
// beginning, across all suspensions; each stretch between them is a run of its own in AG-UI and ends with an outcome.

import type { SessionMessage } from "holdfast";
import type { LoggedEvent, PendingSessionCall } from "holdfast/execute";
import { approvalIdOf } from "../ai-sdk/index.ts";
import { waitText } from "../service/index.ts";
import type { AgUiBackgroundCall, AgUiEvent, AgUiInterrupt, AgUiUsage } from "./ag-ui-event.ts";

type Event = LoggedEvent["event"];
type AssistantPart = Extract<SessionMessage, { readonly role: "assistant" }>["content"][number];
type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;

/** The run to project, and its thread. */
export interface AgUiRun {
	readonly threadId: string;
	readonly runId: string;
	/** Calls whose results the front end has sent, so it has them already. */
	readonly answered?: ReadonlySet<string>;
}

/** A call as the model requested it. */
interface MadeCall {
	readonly name: string;
	readonly given: unknown;
	readonly parentMessageId: string;
}

/** The schema of a response to an approval request. */
const approvalSchema = {
	type: "object",
	required: ["approved"],
	properties: { approved: { type: "boolean" }, reason: { type: "string" } },
	additionalProperties: false,
} as const;

/** The same for a call whose arguments the approver may change. */
const editSchema = {
	...approvalSchema,
	properties: { ...approvalSchema.properties, input: { type: "object" } },
} as const;

export class AgUiProjection {
	readonly #run: AgUiRun;
	#events: AgUiEvent[] = [];
	/** The message being emitted, and the block within it. */
	#messageId = "";
	#block = "";
	#blocks = 0;
	/** The ids under which the last answer was emitted: one for each block. */
	#answered: string[] = [];
	#isAnswering = false;
	/** Whether the last answer was cut off. The next one takes its place. */
	#isCut = false;
	/** Calls that the model has requested, until their final arguments are known. */
	readonly #made = new Map<string, MadeCall>();
	/** The arguments of all emitted calls, as JSON. */
	readonly #emitted = new Map<string, string>();
	readonly #settled = new Set<string>();
	#usage = new Map<string, AgUiUsage>();

	constructor(run: AgUiRun) {
		this.#run = run;
	}

	/** Returns the AG-UI events for an event. */
	add({ id, event }: LoggedEvent): readonly AgUiEvent[] {
		this.#events = [];
		switch (event.type) {
			case "session_start":
				this.#usage = new Map();
				break;
			case "message_start":
				this.#messageId = `message-${id}`;
				this.#blocks = 0;
				if (event.role === "assistant") this.#answerBegins(event.replaces !== undefined);
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
				this.#answered.push(this.#block);
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
			case "toolcall_end": {
				const { id: toolCallId, name, arguments: given } = event.toolCall;
				this.#made.set(toolCallId, { name, given, parentMessageId: this.#messageId });
				break;
			}
			case "tool_execution_start":
				this.#call(event.toolCallId, event.toolName, event.args);
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
			case "tools_pending":
			case "awaiting_tool_execution":
				for (const { id: toolCallId, name, arguments: input } of event.toolCalls)
					this.#call(toolCallId, name, input);
				break;
			case "execute_complete":
				this.#ended(event);
				break;
			case "session_end":
			case "history_cut":
			case "toolcall_start":
			case "toolcall_delta":
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

	/** The first text of a message has the id of the message, to which its calls belong. */
	#beginBlock(): void {
		this.#block = this.#blocks === 0 ? this.#messageId : `${this.#messageId}-${this.#blocks}`;
		this.#blocks++;
		this.#answered.push(this.#block);
	}

	#answerBegins(replaces: boolean): void {
		const messageIds = this.#answered;
		if ((replaces || this.#isCut) && messageIds.length > 0)
			this.#emit({
				type: "CUSTOM",
				name: "messages_replaced",
				value: { messageIds, replacedBy: this.#messageId },
			});
		this.#answered = [];
		this.#isAnswering = true;
		this.#isCut = false;
	}

	/**
	 * Emits a call with the arguments it runs with. Front ends run their own tools with the arguments in
	 * `TOOL_CALL_ARGS`, so the model's arguments are held back: hooks and defaults may change them.
	 */
	#call(toolCallId: string, toolCallName: string, input: unknown): void {
		const { parentMessageId = this.#messageId } = this.#made.get(toolCallId) ?? {};
		this.#made.delete(toolCallId);
		const delta = JSON.stringify(input);
		const emitted = this.#emitted.get(toolCallId);
		this.#emitted.set(toolCallId, delta);
		if (emitted !== undefined) {
			// The approver has changed them.
			if (emitted !== delta) this.#emit({ type: "CUSTOM", name: "tool_input", value: { toolCallId, input } });
			return;
		}
		this.#emit({ type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId });
		this.#emit({ type: "TOOL_CALL_ARGS", toolCallId, delta });
		this.#emit({ type: "TOOL_CALL_END", toolCallId });
	}

	#result(toolCallId: string, content: string, id: string): void {
		if (this.#settled.has(toolCallId)) return;
		this.#settled.add(toolCallId);
		// The call has its result without having run.
		const made = this.#made.get(toolCallId);
		if (made !== undefined) this.#call(toolCallId, made.name, made.given);
		if (this.#run.answered?.has(toolCallId) === true) return;
		this.#emit({ type: "TOOL_CALL_RESULT", messageId: `result-${id}`, toolCallId, role: "tool", content });
	}

	#messageEnded(message: SessionMessage, id: string): void {
		if (message.role === "tool") this.#result(message.toolCallId, message.output, id);
		else if (message.role !== "user") {
			this.#isCut = this.#isAnswering && message.role === "error";
			this.#isAnswering = false;
		}
		if (message.role !== "assistant") return;
		for (const part of message.content) this.#providerDid(part, id);
		const { model, usage } = message;
		const sum = this.#usage.get(model);
		this.#usage.set(model, {
			...(model === "" ? {} : { model }),
			inputTokens: (sum?.inputTokens ?? 0) + usage.inputTokens,
			outputTokens: (sum?.outputTokens ?? 0) + usage.outputTokens,
			totalTokens: (sum?.totalTokens ?? 0) + usage.totalTokens,
		});
	}

	/** Calls that the provider ran itself are known once its answer is complete. */
	#providerDid(part: AssistantPart, id: string): void {
		if (part.type === "providerToolCall") this.#call(part.id, part.name, part.arguments);
		else if (part.type === "providerToolResult")
			this.#result(part.toolCallId, part.output, `${id}-${part.toolCallId}`);
		else if (part.type === "source" || part.type === "file") {
			const { type: name, ...value } = part;
			this.#emit({ type: "CUSTOM", name, value });
		}
	}

	#ended({
		status,
		pendingToolCalls = [],
		backgroundToolCalls = [],
		error,
		stopReason,
	}: EventOf<"execute_complete">): void {
		// The thread does not wait for them: as interrupts they would keep the front end from sending its next message.
		if (backgroundToolCalls.length > 0)
			this.#emit({
				type: "CUSTOM",
				name: "background_calls",
				value: backgroundToolCalls.map(backgroundCallOf),
			});
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
}

/**
 * Returns a call of a background task: the front end answers it with the entry `interruptId` of `resume`, or with a tool
 * message.
 */
function backgroundCallOf(call: PendingSessionCall): AgUiBackgroundCall {
	const { id: toolCallId, name: toolName, arguments: input, approval, taskId = "" } = call;
	const of = { toolCallId, toolName, input, taskId };
	if (approval !== true) return of;
	const { id: interruptId, responseSchema } = interruptOf(call);
	return { ...of, interruptId, responseSchema };
}

function interruptOf({ id, name, runId, arguments: input, mayEdit }: PendingSessionCall): AgUiInterrupt {
	return {
		id: approvalIdOf(runId, id),
		reason: "tool_approval",
		message: `The tool "${name}" waits for approval.`,
		toolCallId: id,
		metadata: { toolName: name, input },
		responseSchema: mayEdit === true ? editSchema : approvalSchema,
	};
}
