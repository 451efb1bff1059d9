// The single event union. Watchers receive these events; every other stream (UAP, session, HTTP) is a projection of it.
// `seq` is the last entry committed when the event was emitted, `sub` its position after that (keeps I3). Later readers
// address it by an id: event-id.ts.
import type { AssistantMessage, Message, StopReason, StreamEvent, TokenUsage, ToolCall } from "@holdfast/upp";
import type { KnownTool, KnownTools } from "../tools/index.ts";
import type {
	AgentPart,
	CallPathStep,
	ErrorData,
	InputTaken,
	PendingCall,
	PendingWait,
	Placement,
	RunKind,
	RunOutcome,
	RunResumed,
	RunStarted,
	ToolCallOutcome,
} from "./fact.ts";

import { continuesByItself } from "./nested-waits.ts";
import type { CacheBreak } from "./sent-prefix.ts";

/** The position of an event in its session. */
interface At {
	/** Seq of the last entry committed when the event was emitted. */
	readonly seq: number;
	/** Position after that entry; 0 is the event of the entry itself. */
	readonly sub: number;
}

/** A run starts, or continues after a crash or suspension (`attempt` above 1). */
export interface RunStartEvent extends At {
	readonly type: "run_start";
	/** Commit time in milliseconds since the epoch. */
	readonly at: number;
	readonly runId: string;
	/** The key of its session; absent in a call without a session. */
	readonly sessionKey?: string;
	/** The cause of the run. */
	readonly runKind: RunKind;
	/** The id of the agent that started the run. */
	readonly agentId?: string;
	/** The agent's name, if any. */
	readonly agentName?: string;
	/** For a sub-agent's run: the tool call that requested it. */
	readonly parent?: NonNullable<RunStarted["parent"]>;
	/** 1 for the start, then incremented each time the run continues. */
	readonly attempt: number;
	/** The reason for continuing; absent at the start. */
	readonly reason?: RunResumed["reason"];
	/** The partial text of an answer that a crash cut off. */
	readonly partial?: AssistantMessage;
	/**
	 * Set if the run waited for a time, its model or a sub-agent, and not for an outside answer: the same execution
	 * continues.
	 */
	readonly afterWait?: true;
	/** The parts of the agent that have changed since the run was started or last resumed. */
	readonly agentChanged?: readonly AgentPart[];
}
/** An input entered the conversation. */
export interface InputEvent extends At {
	readonly type: "input";
	/** Where it entered the turn. */
	readonly placement: Placement;
	/** The original shape of the input. */
	readonly shape: InputTaken["shape"];
	/** Positions of the parts whose data was given as a tagged object. */
	readonly wrapped?: InputTaken["wrapped"];
	/** The message that the model sees. */
	readonly message: Message;
}
/** A user message and everything after it were removed from the history: the run replaces them. */
export interface HistoryCutEvent extends At {
	readonly type: "history_cut";
	/** The first removed message. */
	readonly messageId: string;
}
/** A turn starts. It may be steered before its first step. */
export interface TurnStartEvent extends At {
	readonly type: "turn_start";
}
/** A step starts: a model call with its tool calls. */
export interface StepStartEvent extends At {
	readonly type: "step_start";
	/** Its number within the run, from 1. */
	readonly step: number;
}
/** A request is sent to the model. */
export interface ModelStartEvent extends At {
	readonly type: "model_start";
	/** The number of the step within the run. */
	readonly step: number;
	/** The purpose of the call: `act`, `reason`, `plan` or the strategy's own tag. */
	readonly tag: string;
	/** The model that is called. */
	readonly modelId: string;
}
/** An event of the model's stream, as the provider sent it. */
export interface ModelEvent extends At {
	readonly type: "model";
	/** The number of the step within the run. */
	readonly step: number;
	/** The purpose of the call. */
	readonly tag: string;
	/** The event. */
	readonly event: StreamEvent;
}
/** The request is retried after a provider failure. */
export interface ModelRetryEvent extends At {
	readonly type: "model_retry";
	/** The number of the step within the run. */
	readonly step: number;
	/** The number of the attempt that failed, from 1. */
	readonly attempt: number;
	/** Milliseconds until the next attempt. */
	readonly delay: number;
	/** Why it failed. */
	readonly error: ErrorData;
}
/** An answer was committed. */
export interface MessageEvent extends At {
	readonly type: "message";
	/** Commit time in milliseconds since the epoch. */
	readonly at: number;
	/** The number of the step within the run. */
	readonly step: number;
	/** The purpose of the call. */
	readonly tag: string;
	/** The answer, with its tool calls. */
	readonly message: AssistantMessage;
	/** Id of the message of the same turn that this answer replaces: show this answer in its place. */
	readonly replaces?: string;
	/** Tokens of the call. */
	readonly usage: TokenUsage;
	/** Why the model stopped. */
	readonly stopReason: string;
	/** The model that answered. */
	readonly modelId: string;
	/** In milliseconds. */
	readonly duration: number;
	/** In US dollars; absent if unknown. */
	readonly cost?: number;
	/** Set if the request did not begin like the previous one, so that the provider's prompt cache was of less use. */
	readonly cacheBreak?: CacheBreak;
}
/** A call is about to run; its start is committed. */
export interface ToolStartEvent extends At {
	readonly type: "tool_start";
	/** Commit time in milliseconds since the epoch. */
	readonly at: number;
	/** The tool to run. */
	readonly toolName: string;
	/** The number of the step within the run. */
	readonly step: number;
	/** The position of the call in its message, from 0. */
	readonly index: number;
	/** The call as the model made it. */
	readonly call: ToolCall;
	/** The final input. */
	readonly input: unknown;
	/** 2 or more if the call is run again after a crash. */
	readonly attempt: number;
	/** Set if the strategy made the call, not a model: the call is not in the history. */
	readonly requested?: true;
}
/** A running tool emitted a piece of its output. */
export interface ToolDeltaEvent extends At {
	readonly type: "tool_delta";
	/** The number of the step within the run. */
	readonly step: number;
	readonly toolCallId: string;
	/** The piece. */
	readonly delta: string;
}
/** A running tool reported an event of its sub-agent. */
export interface NestedEvent extends At {
	readonly type: "nested";
	/** The number of the step within the run. */
	readonly step: number;
	readonly toolCallId: string;
	/** The event of the sub-agent. */
	readonly event: unknown;
}
/** A call has its result, which is committed. */
export interface ToolEndEvent extends At {
	readonly type: "tool_end";
	/** The tool that was called. */
	readonly toolName: string;
	/** Commit time in milliseconds since the epoch. */
	readonly at: number;
	/** The number of the step within the run. */
	readonly step: number;
	/** The position of the call in its message, from 0. */
	readonly index: number;
	/** The call as the model made it. */
	readonly call: ToolCall;
	/** How it got its result. */
	readonly outcome: ToolCallOutcome;
	/** The result that the model receives. */
	readonly result: unknown;
	/** Data of the tool for the application. Never sent to a model. */
	readonly details?: unknown;
	/** If the tool threw: the stack frames, for logs. */
	readonly stack?: string;
	/** In milliseconds. */
	readonly duration: number;
	/** Set if the strategy made the call, not a model: the call is not in the history. */
	readonly requested?: true;
}
/** A step has ended. */
export interface StepEndEvent extends At {
	readonly type: "step_end";
	/** Its number within the run. */
	readonly step: number;
	/** Usage of all model calls of the run so far. */
	readonly usage: TokenUsage;
}
/** Calls wait for outside answers while others still run. They can already be answered. */
export interface ToolsPendingEvent extends At, Pick<WaitingEvent, "at" | "runId" | "calls"> {
	readonly type: "tools_pending";
}
/** The run waits for an outside answer. */
export interface WaitingEvent extends At {
	readonly type: "waiting";
	/** Commit time in milliseconds since the epoch. */
	readonly at: number;
	readonly runId: string;
	/** Calls of sub-agents have the `path` to them, and ids that are unique in this session. */
	readonly calls: readonly (PendingCall & {
		readonly call: ToolCall;
		readonly path?: readonly CallPathStep[];
	})[];
	/** The wait of the strategy, of the run for its model, or of a sub-agent, if any. */
	readonly wait?: PendingWait;
}
/** Whether an execution ends with this event: the run has ended, or waits for an outside answer. */
export function endsExecution(event: RunEvent): boolean {
	if (event.type === "waiting") return !continuesByItself(event.calls, event.wait);
	return event.type === "run_end";
}

/** Data was recorded in addition to the messages. */
export interface NoteEvent extends At {
	readonly type: "note";
	/** Commit time in milliseconds since the epoch. */
	readonly at: number;
	/** The number of the step within the run. */
	readonly step: number;
	/** The kind of note, such as `reasoning`, `plan` or a strategy's own. */
	readonly topic: string;
	/** Plain data. */
	readonly value: unknown;
}
/** The run stopped here and can be resumed. This is the last event that this process emits for it. */
export interface RunSuspendedEvent extends At {
	readonly type: "run_suspended";
	readonly runId: string;
	/** `parked`: the run does not continue by itself; release it or end it. */
	readonly reason: "suspended" | "waiting" | "lease_lost" | "journal_failed" | "parked";
	/** Set if an error stopped it. */
	readonly error?: ErrorData;
}
/** The run ended. Always its last event. */
export interface RunEndEvent extends At {
	readonly type: "run_end";
	/** Commit time in milliseconds since the epoch. */
	readonly at: number;
	readonly runId: string;
	/** How it ended. */
	readonly outcome: RunOutcome;
	/** Why it failed. */
	readonly error?: ErrorData;
	/** The part of an unfinished answer that was streamed. */
	readonly partial?: AssistantMessage;
	/** Tokens of all model calls of the run. */
	readonly usage: TokenUsage;
	/** How many steps it took. */
	readonly steps: number;
	/** Why the model stopped its last answer. Absent if there is no answer, or the last one has only a `partial`. */
	readonly stopReason?: StopReason;
	/** In US dollars; absent if the price of any answer is unknown. */
	readonly cost?: number;
	/** The structured answer, if the agent has the option `output`. */
	readonly output?: unknown;
}

/** The start of a call of one of these tools. */
type StartOf<Tool extends KnownTool> = Tool extends KnownTool
	? string extends Tool["name"]
		? ToolStartEvent
		: Omit<ToolStartEvent, "toolName" | "input"> & {
				readonly toolName: Tool["name"];
				readonly input: Tool["input"];
			}
	: never;

/** The end of a call of one of these tools. */
type EndOf<Tool extends KnownTool> = Tool extends KnownTool
	? string extends Tool["name"]
		? ToolEndEvent
		: Omit<ToolEndEvent, "toolName" | "outcome" | "result"> & { readonly toolName: Tool["name"] } & (
					| { readonly outcome: "done"; readonly result: Tool["output"] }
					| { readonly outcome: Exclude<ToolCallOutcome, "done">; readonly result: unknown }
				)
	: never;

/** The events of `run.watch()`. If the tools have types, `event.toolName` determines the types of input and result. */
export type RunEvent<Tools = unknown> =
	| RunStartEvent
	| InputEvent
	| HistoryCutEvent
	| TurnStartEvent
	| StepStartEvent
	| ModelStartEvent
	| ModelEvent
	| ModelRetryEvent
	| MessageEvent
	| StartOf<KnownTools<Tools>>
	| ToolDeltaEvent
	| NestedEvent
	| EndOf<KnownTools<Tools>>
	| StepEndEvent
	| ToolsPendingEvent
	| WaitingEvent
	| NoteEvent
	| RunSuspendedEvent
	| RunEndEvent;

/** Events at which the run may have to wait until a synchronised consumer requests the next one. */
export type BoundaryEvent = TurnStartEvent | StepStartEvent | StepEndEvent;

/** A watcher. Must not throw. */
export interface Watcher {
	/** Called with each event, in order. */
	notify(event: RunEvent): void;
	/**
	 * Settles when its work for earlier events is done. Awaited before a boundary is emitted. Undefined if there is no
	 * such work.
	 */
	settled?(): Promise<unknown> | undefined;
	/** Settles when the run may continue past a boundary that was just emitted; undefined lets it continue at once. */
	passed?(event: BoundaryEvent): Promise<unknown> | undefined;
	/** Whether it may make the run wait at a later boundary. Default: whether it has `passed` or `settled`. */
	mayHold?(): boolean;
	/** Settles when there is room for more of the model's stream; undefined if there is room already. */
	full?(): Promise<void> | undefined;
	/**
	 * Settles when followers that keep up have received the emitted events. Awaited before a tool starts or continues.
	 * Undefined: no wait.
	 */
	heard?(): Promise<void> | undefined;
}
