// Derives execution events from the one event union. Pure: the same run events produce the same execution events, whether
// they are emitted live or read from the journal. Each event directly follows the run event that it comes from.
import type { AssistantMessage, ToolCall, UserMessage } from "@holdfast/upp";
import type {
	MessageEvent,
	PendingWait,
	RunEndEvent,
	RunEvent,
	RunStartEvent,
	ToolEndEvent,
} from "../facts/index.ts";
import { continuesByItself, failureReason } from "../facts/index.ts";
import { plainDetails, plainJson } from "../tools/index.ts";
import type { ExecuteComplete, ExecuteEvent, SessionWait } from "./execute-event.ts";
import { OpenAnswer } from "./open-answer.ts";
import { pendingCallsOf } from "./pending-call.ts";
import {
	type AssistantSessionMessage,
	assistantMessage,
	outputText,
	type SessionMessage,
	userMessage,
} from "./session-message.ts";

type WaitingEvent = Extract<RunEvent, { type: "waiting" }>;

export class ExecuteProjection {
	readonly #sessionId: string;
	readonly #shown: ShownError;
	#events: (ExecuteEvent | ExecuteComplete)[] = [];
	#at = 0;
	/** The answer being emitted. */
	#answer: OpenAnswer | undefined;
	/** Messages of the execution so far. */
	#messages: SessionMessage[] = [];
	/** Calls without a result, and whether they are running. */
	readonly #calls = new Map<string, { readonly call: ToolCall; running: boolean }>();
	/** Whether waiting calls were shown while others run. */
	#showsPending = false;
	/** Set if the last answer was refused. */
	#refused: { readonly code: string; readonly message: string } | undefined;

	/** `shown` converts a run's error for watchers. Default: unchanged. */
	constructor(sessionId: string, shown: ShownError = asItIs) {
		this.#sessionId = sessionId;
		this.#shown = shown;
	}

	/** Whether an answer is being emitted. */
	get isAnswering(): boolean {
		return this.#answer !== undefined;
	}

	/** Returns the execution events of one run event. */
	project(event: RunEvent): readonly (ExecuteEvent | ExecuteComplete)[] {
		this.#events = [];
		if ("at" in event) this.#at = event.at;
		switch (event.type) {
			case "run_start":
				this.#started(event);
				break;
			case "history_cut":
				this.#emit({ type: "history_cut", messageId: event.messageId });
				break;
			case "input":
				if (event.message.type === "user") this.#message(userMessage(event.message as UserMessage));
				break;
			case "model":
				this.#answer ??= this.#begin();
				this.#events.push(...this.#answer.add(event.event));
				if (!this.#answer.isEmitted) this.#answer = undefined;
				break;
			case "message":
				this.#answered(event);
				break;
			case "tool_start":
				this.#toolStarted(event.call, event.input);
				break;
			case "tool_delta":
				this.#emit({ type: "tool_execution_delta", toolCallId: event.toolCallId, delta: event.delta });
				break;
			case "tool_end":
				this.#toolEnded(event);
				break;
			case "note":
				if (event.topic === "model-failed") this.#failed(this.#shown(event.value as ErrorText), undefined);
				break;
			case "tools_pending":
				this.#showPending(event);
				break;
			case "waiting":
				this.#waits(event);
				break;
			case "run_end":
				this.#ended(event);
				break;
			case "turn_start":
			case "step_start":
			case "model_start":
			case "model_retry":
			case "nested":
			case "step_end":
			case "run_suspended":
				break;
			default:
				event satisfies never;
				break;
		}
		return this.#events;
	}

	#emit(event: ExecuteEvent | ExecuteComplete): void {
		this.#events.push(event);
	}

	#begin(): OpenAnswer {
		return new OpenAnswer();
	}

	#started({ reason, partial, afterWait }: RunStartEvent): void {
		if (afterWait === true) {
			this.#emit({ type: "resumed", sessionId: this.#sessionId });
			return;
		}
		if (reason === undefined || reason === "answered") {
			this.#messages = [];
			this.#refused = undefined;
			this.#emit({ type: "session_start", sessionId: this.#sessionId });
			return;
		}
		for (const each of this.#calls.values()) each.running = false;
		if (partial !== undefined) this.#failed(cutOff, partial);
	}

	#answered(event: MessageEvent): void {
		const { message, stopReason } = event;
		const answer = this.#answer ?? this.#begin();
		this.#answer = undefined;
		this.#events.push(...answer.finish(message));
		for (const call of message.toolCalls ?? []) this.#calls.set(call.toolCallId, { call, running: false });
		const said = assistantMessage(message, event);
		this.#refused = undefined;
		if (stopReason !== "content_filter") {
			this.#endMessage(said);
			return;
		}
		this.#refused = { code: "content_filtered", message: "The provider refused or filtered this reply." };
		this.#endMessage(this.#errorMessage(this.#refused, { partial: said }));
	}

	#toolStarted(call: ToolCall, input: unknown): void {
		const { toolCallId, toolName } = call;
		// A watcher that started after a call was approved has not seen the call before.
		this.#calls.set(toolCallId, { call, running: true });
		this.#emit({ type: "tool_execution_start", toolCallId, toolName, args: argumentsOf(input) });
	}

	#toolEnded({ call, outcome, result, details, requested }: ToolEndEvent): void {
		const { toolCallId, toolName } = call;
		const output = outputText(result);
		const isError = outcome !== "done";
		const more = details === undefined ? {} : { details: plainDetails(details) };
		if (this.#calls.get(toolCallId)?.running === true) {
			const failed = isError ? { isError: true as const } : {};
			this.#emit({ type: "tool_execution_end", toolCallId, output, ...more, ...failed });
		}
		this.#calls.delete(toolCallId);
		if (requested === true) return; // the history contains neither the call nor its result
		this.#message({ role: "tool", toolCallId, toolName, output, isError, ...more, timestamp: this.#at });
	}

	#waits({ runId, calls, wait }: WaitingEvent): void {
		// The provider failed during the answer: when the run continues, the model is called again.
		if (this.#answer !== undefined) this.#failed(brokenOff, undefined);
		const isUnderWay = continuesByItself(calls, wait);
		if (isUnderWay || wait !== undefined) {
			const shown = sessionWait(wait, this.#shown);
			this.#emit({ type: "waiting", sessionId: this.#sessionId, ...shown });
		}
		if (isUnderWay) return;
		const toolCalls = pendingCallsOf(runId, calls);
		this.#emit({ type: "awaiting_tool_execution", sessionId: this.#sessionId, toolCalls });
		this.#emit({ type: "execute_complete", status: "awaiting_tool_execution", pendingToolCalls: toolCalls });
	}

	/** Shows calls that wait while others run; the execution is not complete. */
	#showPending({ runId, calls }: Pick<WaitingEvent, "runId" | "calls">): void {
		if (calls.length === 0 && !this.#showsPending) return;
		this.#showsPending = calls.length > 0;
		this.#emit({
			type: "tools_pending",
			sessionId: this.#sessionId,
			toolCalls: pendingCallsOf(runId, calls),
		});
	}

	#ended({ outcome, error, partial, output, stopReason }: RunEndEvent): void {
		// A killed run leaves calls open, but a history must have a result for every call.
		for (const { call } of this.#calls.values()) {
			const { toolCallId, toolName } = call;
			const result = { output: "The run ended before this call had a result.", isError: true };
			this.#message({ role: "tool", toolCallId, toolName, ...result, timestamp: this.#at });
		}
		this.#calls.clear();
		if (outcome === "aborted") {
			this.#endOrMessage({ role: "aborted", ...partialOf(partial), timestamp: this.#at });
			this.#end({ status: "aborted" });
			return;
		}
		let failure = outcome === "completed" ? this.#refused : undefined;
		let message: SessionMessage | undefined = failure === undefined ? undefined : this.#messages.at(-1);
		if (outcome === "error" || outcome === "killed") {
			failure = this.#shown(failureOf(error));
			message = this.#failed(failure, partial);
		}
		if (failure === undefined) {
			const said = output === undefined ? {} : { output: plainDetails(output) };
			const stopped = stopReason === undefined || stopReason === "stop" ? {} : { stopReason };
			this.#end({ status: "completed", ...said, ...stopped });
			return;
		}
		const about = message === undefined ? {} : { message };
		const { code } = failure;
		this.#emit({ type: "error", error: failure.message, code, reason: failureReason(code), ...about });
		this.#end({ status: "error", error: failure });
	}

	#end(complete: Omit<ExecuteComplete, "type">): void {
		this.#emit({ type: "session_end", sessionId: this.#sessionId, messages: this.#messages });
		this.#emit({ type: "execute_complete", ...complete });
		this.#messages = [];
	}

	#failed(error: ErrorText, partial: AssistantMessage | undefined): SessionMessage {
		return this.#endOrMessage(this.#errorMessage(error, partialOf(partial)));
	}

	#errorMessage({ code, message }: ErrorText, said: Said): SessionMessage {
		return { role: "error", error: message, code, ...said, timestamp: this.#at };
	}

	/** Ends the message being emitted with this one, or emits it whole. */
	#endOrMessage(message: SessionMessage): SessionMessage {
		if (this.#answer === undefined) this.#message(message);
		else {
			this.#events.push(...this.#answer.cut());
			this.#answer = undefined;
			this.#endMessage(message);
		}
		return message;
	}

	#message(message: SessionMessage): void {
		this.#emit({ type: "message_start", role: message.role });
		this.#endMessage(message);
	}

	#endMessage(message: SessionMessage): void {
		this.#messages.push(message);
		this.#emit({ type: "message_end", message });
	}
}

/** Converts a wait to the form that clients see. */
function sessionWait(wait: PendingWait | undefined, shown: ShownError): SessionWait {
	if (wait === undefined) return { reason: "subagent", tag: "a sub-agent" };
	const { tag, until, model } = wait;
	return {
		reason: model === undefined ? "strategy" : "model",
		tag,
		...(until === undefined ? {} : { until }),
		...(model === undefined
			? {}
			: { code: shown({ code: model.code, message: "" }).code, attempt: model.attempt }),
	};
}

/** An incomplete answer. */
interface Said {
	readonly partial?: AssistantSessionMessage;
}

function partialOf(partial: AssistantMessage | undefined): Said {
	const said = partial === undefined ? undefined : assistantMessage(partial);
	return said === undefined || said.content.length === 0 ? {} : { partial: said };
}

/** Returns arguments as a tool receives them: a schema may have converted the model's input to any value. */
function argumentsOf(input: unknown): unknown {
	try {
		return plainJson(input);
	} catch {
		return plainDetails(input);
	}
}

/** A run's error, as emitted. */
export interface ErrorText {
	/** Identifies the problem. */
	readonly code: string;
	/** The text that clients may read. */
	readonly message: string;
}

/** Converts a run's error for watchers. Must be pure. */
export type ShownError = (error: ErrorText) => ErrorText;

function asItIs({ code, message }: ErrorText): ErrorText {
	return { code, message };
}

/** A provider may refuse an answer or fail because of its input: for the caller, both mean the same. */
function failureOf(
	{ code, message }: ErrorText = { code: "run_failed", message: "The run failed." },
): ErrorText {
	return { code: code === "CONTENT_FILTERED" ? "content_filtered" : code, message };
}

const brokenOff: ErrorText = {
	code: "interrupted",
	message: "This reply was cut off because the provider failed. It is generated again.",
};

const cutOff: ErrorText = {
	code: "interrupted",
	message: "This reply was cut off because its process ended. It is generated again.",
};
