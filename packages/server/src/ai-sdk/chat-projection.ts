// Projects execution events to chunks of the AI SDK's UI message stream. Pure: the same events give the same chunks. It
// receives a run from its beginning, across all suspensions: all of them build one message.
//
// A call's input is emitted as available once it is known who executes the call: when the run waits for the page, or
// marked if it was not the page's. So no page executes a call that something else executes.

import type { SessionMessage } from "holdfast";
import type { LoggedEvent, PendingSessionCall } from "holdfast/execute";
import { waitText } from "../service/index.ts";
import {
	answerIdOf,
	approvalIdOf,
	finishReasons,
	isOfCall,
	outputOf,
	sourcePart,
	type UiChunk,
	type UiWait,
	urlOf,
	waitsOutput,
} from "./ui-chunk.ts";

type Event = LoggedEvent["event"];
type AssistantPart = Extract<SessionMessage, { readonly role: "assistant" }>["content"][number];
type EventOf<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;

/** How many of the last characters of a running tool's output are emitted; every delta emits them again. */
const preliminaryCharacters = 4_096;
/** The output shown for a sub-agent's call once it has its answer. */
export const continued = "The sub-agent continued.";

/** Data about calls in addition to the events. */
export interface CallsKnown {
	/** Calls whose result follows later in the log: they must not be executed. */
	readonly answered?: ReadonlySet<string>;
	/** Calls that the page has refused. */
	readonly denied?: ReadonlySet<string>;
	/** Calls that wait now: the log lacks results of sub-agents' calls. Absent: those that wait by the log. */
	readonly pending?: ReadonlySet<string>;
}

/** A call being written. */
interface Writing {
	readonly toolCallId: string | undefined;
}

interface Call {
	readonly toolName: string;
	input: unknown;
	isEmitted: boolean;
	/** Set if approval was requested. */
	approvalId: string | undefined;
	isSettled: boolean;
	said: string;
	/** For a call of a sub-agent: the session's call that delegated the work. */
	readonly within?: string | undefined;
}

export class ChatProjection {
	readonly #known: CallsKnown;
	#chunks: UiChunk[] = [];
	#hasStarted = false;
	#isStepOpen = false;
	/** Whether an answer is being emitted, and whether the last one was cut off. */
	#isAnswering = false;
	#isCut = false;
	/** Calls of the open step and their results: they are emitted again if its answer is replaced. */
	#stepCalls: UiChunk[] = [];
	#block = "";
	readonly #writing = new Map<number, Writing>();
	readonly #calls = new Map<string, Call>();
	/** Calls of sub-agents without a result, kept apart so that a result does not have to search all calls of the run. */
	readonly #nested = new Map<string, Call>();

	constructor(known: CallsKnown = {}) {
		this.#known = known;
	}

	/** Returns the chunks for an event. */
	add({ id, event }: LoggedEvent): readonly UiChunk[] {
		this.#chunks = [];
		switch (event.type) {
			case "message_start":
				if (event.role === "assistant") this.#answerBegins(event.replaces !== undefined);
				break;
			case "message_end":
				this.#messageEnded(event.message);
				break;
			case "text_start":
			case "thinking_start":
				this.#block = id;
				this.#emit({ type: event.type === "text_start" ? "text-start" : "reasoning-start", id });
				break;
			case "text_delta":
				this.#emit({ type: "text-delta", id: this.#block, delta: event.delta });
				break;
			case "thinking_delta":
				this.#emit({ type: "reasoning-delta", id: this.#block, delta: event.delta });
				break;
			case "text_end":
				this.#emit({ type: "text-end", id: this.#block });
				break;
			case "thinking_end":
				this.#emit({ type: "reasoning-end", id: this.#block });
				break;
			case "toolcall_start":
				this.#callBegins(event);
				break;
			case "toolcall_delta":
				this.#callContinues(event);
				break;
			case "toolcall_end":
				this.#callEnds(event);
				break;
			case "tools_pending":
			case "awaiting_tool_execution":
				this.#waits(event);
				break;
			case "session_start":
				// Calls of a strategy that were refused have no result in the log.
				for (const id of this.#known.denied ?? []) this.#settled(id, "", true);
				break;
			case "waiting": {
				const { type: _, sessionId: __, ...wait } = event;
				this.#emitWait({ ...wait, isOver: false, text: waitText(wait) });
				break;
			}
			case "resumed":
				this.#emitWait({ isOver: true });
				break;
			case "tool_execution_start":
				this.#runs(event);
				break;
			case "tool_execution_delta":
				this.#says(event);
				break;
			case "tool_execution_end":
				this.#settled(event.toolCallId, event.output, event.isError === true);
				break;
			case "error":
				this.#start(undefined);
				this.#emit({ type: "error", errorText: event.error });
				break;
			case "execute_complete":
				this.#ended(event);
				break;
			case "session_end":
			case "history_cut":
				break;
			default:
				event satisfies never;
				break;
		}
		return this.#chunks;
	}

	#emit(chunk: UiChunk): void {
		this.#chunks.push(chunk);
		if (isOfCall(chunk)) this.#stepCalls.push(chunk);
	}

	#emitWait(data: UiWait): void {
		this.#start(undefined);
		this.#emit({ type: "data-waiting", id: "waiting", data });
	}

	#start(messageId: string | undefined): void {
		if (this.#hasStarted) return;
		this.#hasStarted = true;
		this.#emit({ type: "start", ...(messageId === undefined ? {} : { messageId }) });
	}

	#answerBegins(replaces: boolean): void {
		this.#start(undefined);
		const calls = this.#stepCalls;
		this.#stepCalls = [];
		if (this.#isCut) this.#emit({ type: "reset-step" });
		else if (replaces && this.#isStepOpen) {
			this.#emit({ type: "reset-step" });
			// The text is replaced, but the calls of the answer have run.
			for (const chunk of calls) this.#emit(chunk);
		} else {
			this.#endStep();
			this.#emit({ type: "start-step" });
		}
		this.#isStepOpen = true;
		this.#isAnswering = true;
		this.#isCut = false;
		this.#writing.clear();
	}

	#endStep(): void {
		if (this.#isStepOpen) this.#emit({ type: "finish-step" });
		this.#isStepOpen = false;
	}

	#messageEnded(message: SessionMessage): void {
		if (message.role === "user") this.#start(message.id === undefined ? undefined : answerIdOf(message.id));
		else if (message.role === "tool") this.#settled(message.toolCallId, message.output, message.isError);
		else {
			// The partial text of a cut-off answer is removed if it is generated again.
			this.#isCut = this.#isAnswering && message.role === "error";
			this.#isAnswering = false;
			if (message.role === "assistant") for (const part of message.content) this.#providerDid(part);
		}
	}

	/** Calls that the provider ran itself are known once its answer is complete. */
	#providerDid(part: AssistantPart): void {
		const providerExecuted = true;
		switch (part.type) {
			case "providerToolCall": {
				const { id: toolCallId, name: toolName, arguments: input } = part;
				this.#emit({ type: "tool-input-available", toolCallId, toolName, input, providerExecuted });
				break;
			}
			case "providerToolResult": {
				const { toolCallId, output, isError } = part;
				if (isError)
					this.#emit({ type: "tool-output-error", toolCallId, errorText: output, providerExecuted });
				else
					this.#emit({
						type: "tool-output-available",
						toolCallId,
						output: outputOf(output),
						providerExecuted,
					});
				break;
			}
			case "source":
				this.#emit(sourcePart(part));
				break;
			case "file":
				this.#emit({ type: "file", mediaType: part.mediaType, url: urlOf(part.data, part.mediaType) });
				break;
			case "text":
			case "thinking":
			case "toolCall":
				break;
			default:
				part satisfies never;
		}
	}

	#callBegins({ index, id: toolCallId, name: toolName }: EventOf<"toolcall_start">): void {
		if (toolCallId === undefined || toolName === undefined) {
			this.#writing.set(index, { toolCallId: undefined });
			return;
		}
		this.#writing.set(index, { toolCallId });
		this.#emit({ type: "tool-input-start", toolCallId, toolName });
	}

	#callContinues({ index, delta }: EventOf<"toolcall_delta">): void {
		const { toolCallId } = this.#writing.get(index) ?? {};
		if (toolCallId !== undefined) this.#emit({ type: "tool-input-delta", toolCallId, inputTextDelta: delta });
	}

	#callEnds({ index, toolCall }: EventOf<"toolcall_end">): void {
		const { id: toolCallId, name: toolName, arguments: input } = toolCall;
		if (this.#writing.get(index)?.toolCallId !== toolCallId)
			this.#emit({ type: "tool-input-start", toolCallId, toolName });
		const state = { isEmitted: false, approvalId: undefined, isSettled: false, said: "" };
		this.#calls.set(toolCallId, { toolName, input, ...state });
	}

	#emitInput(toolCallId: string, executor: "page" | "others"): void {
		const call = this.#calls.get(toolCallId);
		if (call === undefined || call.isEmitted) return;
		call.isEmitted = true;
		const { toolName, input } = call;
		this.#emit({
			type: "tool-input-available",
			toolCallId,
			toolName,
			input,
			...(executor === "others" ? { providerExecuted: true } : {}),
		});
	}

	#waits({ toolCalls }: EventOf<"awaiting_tool_execution" | "tools_pending">): void {
		const waiting = new Set(toolCalls.map(({ id }) => id));
		this.#continueNested((id) => !waiting.has(id));
		this.#ask(toolCalls);
	}

	#ask(toolCalls: readonly PendingSessionCall[]): void {
		for (const pending of toolCalls) {
			const { id: toolCallId, approval, runId, arguments: input } = pending;
			const call = this.#calls.get(toolCallId) ?? this.#unspoken(pending);
			// Hooks and defaults may have changed the model's input; show the input that runs.
			if (JSON.stringify(call.input) !== JSON.stringify(input)) {
				call.input = input;
				call.isEmitted = false;
			}
			const isAnswered = this.#isAnswered(toolCallId, call);
			// A call that waits for approval is not marked, because pages treat marked calls as done.
			this.#emitInput(toolCallId, isAnswered ? "others" : "page");
			if (approval !== true || call.approvalId !== undefined) continue;
			call.approvalId = approvalIdOf(runId, toolCallId);
			this.#emit({ type: "tool-approval-request", approvalId: call.approvalId, toolCallId });
		}
	}

	/** Emits a call that is in no message of the session: a sub-agent's, or one of the strategy's own. */
	#unspoken({ id: toolCallId, name: toolName, arguments: input, path, taskId }: PendingSessionCall): Call {
		const state = { isEmitted: false, approvalId: undefined, isSettled: false, said: "" };
		// A delegation to a background task has its result already.
		const within = taskId === undefined ? path?.[0]?.toolCallId : undefined;
		const call: Call = { toolName, input, ...state, within };
		this.#calls.set(toolCallId, call);
		if (within !== undefined) this.#nested.set(toolCallId, call);
		// Pages send answers once each call of the step has an output. This call gets its own when the sub-agent has
		// finished. A call that the code of a workflow made is not on the page.
		if (within !== undefined && this.#calls.has(within))
			this.#emit({ type: "tool-output-available", toolCallId: within, output: waitsOutput });
		this.#emit({ type: "tool-input-start", toolCallId, toolName });
		return call;
	}

	#isAnswered(toolCallId: string, { within }: Call): boolean {
		const { answered, pending } = this.#known;
		if (answered?.has(toolCallId) === true) return true;
		return within !== undefined && pending?.has(toolCallId) === false;
	}

	/** The sub-agents have the answers to these calls and continue. Their results are not in this session's log. */
	#continueNested(isOver: (id: string, call: Call) => boolean): void {
		for (const [toolCallId, call] of this.#nested) {
			if (!isOver(toolCallId, call)) continue;
			this.#nested.delete(toolCallId);
			call.isSettled = true;
			const isPages = call.approvalId === undefined && !this.#isAnswered(toolCallId, call);
			if (this.#known.denied?.has(toolCallId) === true)
				this.#emit({ type: "tool-output-denied", toolCallId });
			// The page already has the results it sent itself.
			else if (!isPages) this.#emit({ type: "tool-output-available", toolCallId, output: continued });
		}
	}

	#runs({ toolCallId, args }: EventOf<"tool_execution_start">): void {
		const call = this.#calls.get(toolCallId);
		// Hooks and defaults may have changed the model's input.
		if (call?.isEmitted === false) call.input = args;
		this.#emitInput(toolCallId, "others");
		const { approvalId } = call ?? {};
		if (approvalId !== undefined)
			this.#emit({
				type: "tool-approval-response",
				approvalId,
				approved: true,
				providerExecuted: true,
			});
	}

	#says({ toolCallId, delta }: EventOf<"tool_execution_delta">): void {
		const call = this.#calls.get(toolCallId);
		if (call === undefined) return;
		call.said = (call.said + delta).slice(-preliminaryCharacters);
		this.#emit({
			type: "tool-output-available",
			toolCallId,
			output: call.said.toWellFormed(),
			preliminary: true,
		});
	}

	#settled(toolCallId: string, output: string, isError: boolean): void {
		const call = this.#calls.get(toolCallId);
		if (call === undefined || call.isSettled) return;
		call.isSettled = true;
		this.#nested.delete(toolCallId);
		call.said = "";
		this.#continueNested((_, { within }) => within === toolCallId);
		this.#emitInput(toolCallId, "others");
		if (this.#known.denied?.has(toolCallId) === true) this.#emit({ type: "tool-output-denied", toolCallId });
		else if (isError) this.#emit({ type: "tool-output-error", toolCallId, errorText: output });
		else this.#emit({ type: "tool-output-available", toolCallId, output: outputOf(output) });
	}

	#ended({
		status,
		error,
		stopReason = "stop",
		backgroundToolCalls = [],
	}: EventOf<"execute_complete">): void {
		this.#start(undefined);
		this.#ask(backgroundToolCalls);
		if (status !== "awaiting_tool_execution") this.#continueNested(() => true);
		this.#endStep();
		if (status === "aborted") this.#emit({ type: "abort" });
		const reasons = {
			completed: finishReasons[stopReason],
			awaiting_tool_execution: "tool-calls",
			error: error?.code === "content_filtered" ? "content-filter" : "error",
			aborted: "interrupted",
		} as const;
		this.#emit({ type: "finish", finishReason: reasons[status] });
	}
}
