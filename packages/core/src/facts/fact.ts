// The facts of a journal: committed in order, and folded into state (keeps I2). A fact is plain data plus UPP messages;
// codec.ts converts one to a row and back.
import type { AssistantMessage, Message, System, TokenUsage } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { AgentStateJSON } from "../state/index.ts";
import type { RecordedSystem } from "./recorded-system.ts";
import type { CacheBreak, SentPrefix, SentView, ViewCuts } from "./sent-prefix.ts";
import type { Spent, ToolSettled, ToolStarted, ToolsRequested } from "./tool-facts.ts";
import type { PendingCall, PendingWait, WaitingChild } from "./waits.ts";

export type { Spent, ToolCallOutcome, ToolSettled, ToolStarted, ToolsRequested } from "./tool-facts.ts";

export type { CallPathStep, NestedCall, PendingCall, PendingWait, WaitingChild } from "./waits.ts";

/** Why a run exists. */
export type RunKind = "user-turn" | "subagent" | "background-subagent" | "notification" | "tool-recovery";

/** Where an input entered its turn. */
export type Placement = "turn" | "turn-start" | "step-start" | "step-end";

/** How a run ended. `aborted` was requested from outside; `killed` also raised the session's epoch. */
export type RunOutcome = "completed" | "error" | "aborted" | "killed";

/** An error as data, in facts and events. */
export interface ErrorData {
	/** Identifies the problem. */
	readonly code: string;
	/** The problem, and how to solve it. */
	readonly message: string;
	/** Whether the same call may succeed if repeated. */
	readonly retryable: boolean;
}

/** A run started. `fingerprint` identifies the agent's model, instructions and tools at that time. */
export interface RunStarted extends Marked {
	readonly kind: "run.started";
	/** The cause of the run. */
	readonly runKind: RunKind;
	readonly agentId: string;
	/** The agent's name, if any. */
	readonly agentName?: string;
	/** Hashes of the agent's model, instructions and tools. */
	readonly fingerprint: string;
	/** Set if the agent's `system` is a function: its result, which the run is sent until its end. */
	readonly system?: RecordedSystem;
	/** The requester, if known; for a sub-agent's run, the requester of its parent's run. */
	readonly caller?: Caller;
	/** The tool call that requested the run, and its model's description of it. */
	readonly parent?: {
		readonly sessionKey: string;
		readonly runId: string;
		readonly toolCallId: string;
		readonly description?: string;
	};
}

/** A run continued after its process died, its lease moved, or it was suspended. */
export interface RunResumed {
	readonly kind: "run.resumed";
	/** Number of this start of the run; 2 for the first resume. */
	readonly attempt: number;
	/** That of the agent that continues. */
	readonly fingerprint: string;
	/**
	 * `answered`: the awaited answer arrived from outside, or never will. `released`: the run was parked, and a release
	 * continues or ends it.
	 */
	readonly reason: "crash" | "suspended" | "lease-lost" | "answered" | "released";
	/** Set if the agent's `system` is a function now, and no system prompt was recorded for the run. */
	readonly system?: RecordedSystem;
	/** The partial text of an answer that the crash cut off; shown, never sent to a model. */
	readonly partial?: AssistantMessage;
	/** The parts of the agent that have changed since the run was started or last resumed. */
	readonly agentChanged?: readonly AgentPart[];
}

/** The parts of an agent in a fingerprint; `agent` if an earlier release wrote it without details. */
export type AgentPart = "model" | "instructions" | "tools" | "agent";

/** The run no longer continues by itself; release it or end it. */
export interface RunParked {
	readonly kind: "run.parked";
	/**
	 * `crash`: its process died repeatedly. `agent-changed`: it would have continued with a different agent.
	 * `code-diverged`: the code of its workflow no longer matches its record. `code-stuck`: that code awaits something that
	 * will not happen. `open-children`: that code ended while child workflows were open.
	 */
	readonly reason: "crash" | "agent-changed" | "code-diverged" | "code-stuck" | "open-children";
	/** How often its process has died since it last finished a step. */
	readonly crashes: number;
	/** With `agent-changed`: the parts that have changed. */
	readonly agentChanged?: readonly AgentPart[];
	/** The error that parked it. Only for the reasons that concern its code. */
	readonly error?: ErrorData;
}

/** An input was taken into the conversation. */
export interface InputTaken {
	readonly kind: "input";
	/** The id of the input in the inbox. */
	readonly inputId: string;
	/** Where it entered the turn. */
	readonly placement: Placement;
	/** The original shape, which events use. */
	readonly shape: "text" | "texts" | "message";
	/** Positions of the parts whose data was given as a tagged object. Absent if there are none. */
	readonly wrapped?: readonly number[];
	/** For a reminder: the usage of its background tasks, which is added to the run that accepts it. */
	readonly spent?: Spent;
	/** The message that the model sees. */
	readonly message: Message;
}

/** The model answered. */
export interface AssistantSaid extends Marked {
	readonly kind: "assistant";
	/** Number of the step within the run, from 1; 0 for an answer before the first, such as a plan. */
	readonly step: number;
	/** Set if the step continues after this answer and its calls. */
	readonly continues?: true;
	/** The purpose of the call: `act`, `reason`, `plan` or a decider's own tag. */
	readonly tag: string;
	/** The answer, with its tool calls. */
	readonly message: AssistantMessage;
	/** Tokens of the call. */
	readonly usage: TokenUsage;
	/** Why the model stopped. */
	readonly stopReason: string;
	/** The model that answered. */
	readonly modelId: string;
	/** Milliseconds from the request to the end of the answer. */
	readonly duration: number;
	/** Price in US dollars; absent if the model's prices are unknown. */
	readonly cost?: number;
	/** Parsed structured output. */
	readonly data?: unknown;
	/** Id of the tool-result message that will hold this step's results; present if there are calls. */
	readonly resultsId?: string | undefined;
	/** Set if the request did not begin like the previous one. */
	readonly cacheBreak?: CacheBreak;
	/** Set if policy showed the model a history other than the journal's. */
	readonly view?: SentView;
	/** The estimated tokens of the request. Set if policy shortens the history by tokens. */
	readonly estimate?: number;
	/** Where policy has shortened the history, if that has changed since the previous answer. */
	readonly cuts?: ViewCuts;
	/** Set if the strategy changed the request of this call. */
	readonly strategy?: StrategyRequest;
	/** Set if `prepareStep` changed something for this call. */
	readonly prepared?: PreparedStep;
	/** Identifies the model, the instructions and the tools of the request, if they are not those of the run. */
	readonly fingerprint?: string;
}

/** What a strategy changed in the request of one model call. */
export interface StrategyRequest {
	/** The hash of the message that it added after the history. The message itself is not recorded. */
	readonly prompt?: string;
	/** `shown`: the model saw the tools, but could not use them. `withheld`: it did not see them. */
	readonly tools?: "shown" | "withheld";
}

/** A part of a model call that `prepareStep` can change. */
export type StepPart = "model" | "instructions" | "activeTools" | "toolChoice" | "params";

/** What `prepareStep` changed for one model call. */
export interface PreparedStep {
	/** The parts that it changed. */
	readonly changed: readonly StepPart[];
	/** The only tools that the answer may call, if they are not all of the agent's. */
	readonly activeTools?: readonly string[];
}

/** User code answered a question of the engine. It is asked only once. */
export interface Decided {
	readonly kind: "decision";
	/** The number of the step within the run. */
	readonly step: number;
	/** Identifies the question. */
	readonly topic: string;
	/** Plain data. */
	readonly answer: unknown;
}

/** Data recorded in addition to the messages: reasoning, a plan, metadata, a summary, a trace. */
export interface Noted {
	readonly kind: "note";
	/** The number of the step within the run. */
	readonly step: number;
	/** The kind of note. */
	readonly topic: string;
	/** Plain data. */
	readonly value: unknown;
	/** Set if it ends the step. */
	readonly endsStep?: true;
	/** Set if policy recorded it along with another fact: it is not a step of the work, and strategies do not see it. */
	readonly aside?: true;
}

/** The run waits for an outside answer, without occupying a process. */
export interface Waiting {
	readonly kind: "waiting";
	/** The number of the step within the run. */
	readonly step: number;
	/** The calls that need an answer. Empty if a strategy waits. */
	readonly calls: readonly PendingCall[];
	/** Calls whose sub-agents wait. */
	readonly children?: readonly WaitingChild[];
	/** The wait of the strategy or for the model, if any. */
	readonly wait?: PendingWait;
}

/**
 * Calls wait for outside answers while others of their round still run, here or in a sub-agent: the run continues and
 * accepts answers. Lists all calls that wait at this point, and replaces any earlier list.
 */
export interface ToolsPending {
	readonly kind: "tools.pending";
	/** The number of the step within the run. */
	readonly step: number;
	/** The calls that need an answer. */
	readonly calls: readonly PendingCall[];
	/** Calls whose sub-agents wait. */
	readonly children?: readonly WaitingChild[];
}

/** A strategy's wait has ended. */
export interface WaitEnded {
	readonly kind: "wait.ended";
	/** The number of the step within the run. */
	readonly step: number;
	/** The reason for the wait. */
	readonly tag: string;
	/** Its end, in milliseconds since the epoch. */
	readonly until: number;
}

/** A message was appended to the history from outside, not as an input to a run. */
export interface MessageAdded {
	readonly kind: "message.added";
	/** The message. */
	readonly message: Message;
}

/** A message in the history was replaced by an edited one with the same id. */
export interface MessageUpdated {
	readonly kind: "message.updated";
	/** The message that is replaced. */
	readonly messageId: string;
	/** The new message, with the same id. */
	readonly message: Message;
}

/** A message was removed from the history. */
export interface MessageDeleted {
	readonly kind: "message.deleted";
	/** The removed message. */
	readonly messageId: string;
}

/** A user message and everything after it were removed from the history: the run replaces them. */
export interface HistoryCut {
	readonly kind: "history.cut";
	/** The first removed message. */
	readonly messageId: string;
}

/** A run ended. Each run has exactly one, as its last fact. */
export interface RunEnded {
	readonly kind: "run.ended";
	/** How it ended. */
	readonly outcome: RunOutcome;
	/** Why it failed. */
	readonly error?: ErrorData;
	/** The partial text of an answer that never finished; shown, never sent to a model. */
	readonly partial?: AssistantMessage;
}

/** The folded state of all entries up to this one, which replaces them. Its seq is that of the last one. */
export interface Folded {
	readonly kind: "folded";
	/** The conversation. */
	readonly state: AgentStateJSON;
	/** For each message of tool results, the tools that returned them; null for a message that was edited later. */
	readonly tools: readonly (readonly string[] | null)[];
	/** Ids of the messages whose files a provider refused. Their files are not shown to a model. */
	readonly refused?: readonly string[];
	/** The beginning of the last answered request, if there was one. */
	readonly sent?: SentPrefix;
	/** The system prompt that was recorded last, if there was one. */
	readonly system?: System;
}

/**
 * A boundary of a turn or step, stored on the next committed fact or chunk. The step number is implied: `step_end` ends
 * the step of the previous fact, `step_start` starts the following one.
 */
export type BoundaryMark = "turn_start" | "step_start" | "step_end";

/** Optional fields of every fact of a run. */
interface Marked {
	/**
	 * The boundaries emitted since the previous fact or chunk. Absent if there are none. If absent on the start or resume
	 * of a run, an earlier release without boundaries wrote it.
	 */
	readonly marks?: readonly BoundaryMark[] | undefined;
}

/** The content of one journal entry. */
export type Fact = Marked &
	(
		| RunStarted
		| RunResumed
		| RunParked
		| InputTaken
		| AssistantSaid
		| ToolsRequested
		| ToolStarted
		| ToolSettled
		| Decided
		| Noted
		| ToolsPending
		| Waiting
		| WaitEnded
		| MessageAdded
		| MessageUpdated
		| MessageDeleted
		| HistoryCut
		| RunEnded
		| Folded
	);

/** The name of a kind of fact. */
export type FactKind = Fact["kind"];

/** A fact with its position, as returned by `read`. */
export interface Entry {
	/** Position in the session, from 1, without gaps. A `folded` fact has the last position of those it replaced. */
	readonly seq: number;
	/** Milliseconds since the epoch, by the writer's clock. */
	readonly at: number;
	/** The run that the fact belongs to. */
	readonly runId: string;
	/** The recorded fact. */
	readonly fact: Fact;
}
