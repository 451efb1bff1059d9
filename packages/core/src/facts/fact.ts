// The facts of a journal: committed in order, and folded into state (keeps I2). A fact is plain data plus UPP messages;
// codec.ts converts one to a row and back.
import type { AssistantMessage, Message, ProviderMetadata, TokenUsage, ToolCall } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { AgentStateJSON } from "../state/index.ts";

/** Why a run exists. */
export type RunKind = "user-turn" | "subagent" | "background-subagent" | "notification" | "tool-recovery";

/** Where an input entered its turn. */
export type Placement = "turn" | "turn-start" | "step-start" | "step-end";

/** How a run ended. `aborted` was asked for from outside; `killed` also raised the session's epoch. */
export type RunOutcome = "completed" | "error" | "aborted" | "killed";

/**
 * The way in which a tool call got its result. All but `done` reach the model marked as an error. `expired`: no outside
 * answer arrived in time.
 */
export type ToolCallOutcome = "done" | "error" | "cancelled" | "unknown" | "skipped" | "expired";

/** An error as data, in facts and events. */
export interface ErrorData {
	readonly code: string;
	readonly message: string;
	readonly retryable: boolean;
}

/** A run started. `fingerprint` identifies the agent's model, instructions and tools at that time. */
export interface RunStarted extends Marked {
	readonly kind: "run.started";
	readonly runKind: RunKind;
	readonly agentId: string;
	/** Of an agent that has one. */
	readonly agentName?: string;
	readonly fingerprint: string;
	/** The requester, if known; for a sub-agent's run, the requester of its parent's run. */
	readonly caller?: Caller;
	/** The tool call that requested the run, and the description by its model. */
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
	/** Number of this start of the run; the first resume is 2. */
	readonly attempt: number;
	readonly fingerprint: string;
	/**
	 * `answered`: the awaited answer arrived from outside, or never will. `released`: it was parked, and a release
	 * continues or ends it.
	 */
	readonly reason: "crash" | "suspended" | "lease-lost" | "answered" | "released";
	/** The partial text of an answer that the crash cut off; shown, never sent to a model. */
	readonly partial?: AssistantMessage;
	/** The parts of the agent that have changed since the run was started, or last resumed. */
	readonly agentChanged?: readonly AgentPart[];
}

/** The parts of an agent in a fingerprint; `agent` if an earlier release wrote it without details. */
export type AgentPart = "model" | "instructions" | "tools" | "agent";

/** The run no longer continues by itself: release it, or end it. */
export interface RunParked {
	readonly kind: "run.parked";
	/** Its process died again and again, or it would have continued with another agent than before. */
	readonly reason: "crash" | "agent-changed";
	/** How often its process has died since it last finished a step. */
	readonly crashes: number;
	readonly agentChanged?: readonly AgentPart[];
}

/** An input was taken into the conversation. */
export interface InputTaken {
	readonly kind: "input";
	readonly inputId: string;
	readonly placement: Placement;
	/** The original shape, in which events show it. */
	readonly shape: "text" | "texts" | "message";
	/** Positions of the parts whose data was given as a tagged object. Absent: none. */
	readonly wrapped?: readonly number[];
	/** For a reminder: the usage of its background tasks, which counts for the run that accepts it. */
	readonly spent?: Spent;
	readonly message: Message;
}

/** The model answered. */
export interface AssistantSaid extends Marked {
	readonly kind: "assistant";
	/** Number of the step within the run, from 1; 0 for an answer before the first, such as a plan. */
	readonly step: number;
	/** Set when the step continues after this answer and its calls. */
	readonly continues?: true;
	/** The purpose of the call: `act`, `reason`, `plan` or a decider's own tag. */
	readonly tag: string;
	readonly message: AssistantMessage;
	readonly usage: TokenUsage;
	readonly stopReason: string;
	readonly modelId: string;
	/** Milliseconds from the request to the end of the answer. */
	readonly duration: number;
	/** Price in US dollars, absent when the model's prices are not known. */
	readonly cost?: number;
	/** Parsed structured output. */
	readonly data?: unknown;
	/** Id of the tool-result message that will hold this step's results; present when there are calls. */
	readonly resultsId?: string | undefined;
}

/**
 * A strategy called tools without asking a model. The calls and their results are part of the run, but not of the
 * history: no model made them, and none sees them.
 */
export interface ToolsRequested {
	readonly kind: "tools.requested";
	/** Number of the step within the run, from 1; 0 before the first. */
	readonly step: number;
	/** The purpose of the calls: the strategy's own tag. */
	readonly tag: string;
	readonly calls: readonly ToolCall[];
	/** Set when the step continues after the results. */
	readonly continues?: true;
}

/** A tool call is about to run. A call without this fact was never started (keeps I3). */
export interface ToolStarted {
	readonly kind: "tool.started";
	readonly step: number;
	readonly callId: string;
	readonly name: string;
	/** The final input, if it differs from the model's arguments. */
	readonly input?: unknown;
	/** From 1; the same call started again after a crash has 2. */
	readonly attempt: number;
	readonly idempotencyKey: string;
}

/** The usage of a sub-agent, including its own sub-agents. */
export interface Spent {
	readonly usage: TokenUsage;
	/** US dollars of the answers whose price is known. */
	readonly cost: number;
	/** How many answers have a price that is not known. */
	readonly unpriced: number;
}

/** A tool call has its result, by any path. */
export interface ToolSettled {
	readonly kind: "tool.settled";
	readonly step: number;
	readonly callId: string;
	readonly outcome: ToolCallOutcome;
	readonly result: unknown;
	readonly details?: unknown;
	/** Of a tool that threw: the frames of the stack, for logs. No model and no client sees it. */
	readonly stack?: string;
	/** Set if the tool reports that the call was denied; `result` is the reason. */
	readonly denied?: true;
	/** Passed to the provider with the result. */
	readonly metadata?: ProviderMetadata;
	/** Milliseconds the tool ran; 0 when it never did. */
	readonly duration: number;
	readonly approved?: boolean;
	/** Of a call whose work was a sub-agent's. */
	readonly spent?: Spent;
	/** Length of its deltas in characters, if they are stored. */
	readonly streamed?: number;
}

/** A question of the engine to user code was answered; asked once, never again. */
export interface Decided {
	readonly kind: "decision";
	readonly step: number;
	readonly topic: string;
	readonly answer: unknown;
}

/** Data recorded besides the messages: reasoning, a plan, metadata, a summary, a trace. */
export interface Noted {
	readonly kind: "note";
	readonly step: number;
	readonly topic: string;
	readonly value: unknown;
	/** Set if the step ends with it. */
	readonly endsStep?: true;
	/** Set if policy recorded it along with another fact: it is not a step of the work, and strategies do not see it. */
	readonly aside?: true;
}

/** A call that needs an outside answer. */
export interface PendingCall {
	readonly callId: string;
	/** `result`: of a tool that has no function here. `approval`: whether the call may run. */
	readonly awaits: "result" | "approval";
	/** Milliseconds since the epoch when the wait started. */
	readonly since: number;
	/** Milliseconds since the epoch, after which the call has failed. Absent: it waits without limit. */
	readonly deadline?: number;
	/** The input that is shown, approved and run, if hooks or the schema's defaults changed the model's arguments. */
	readonly input?: unknown;
	/** The input given to the schema, if hooks changed the model's arguments. */
	readonly given?: unknown;
	/** Hash of the tool, its schema and the policy that the input passed. Absent if an earlier release wrote it. */
	readonly basis?: string;
	/** Set if the approver may change the input. */
	readonly mayEdit?: true;
	/** Set if no answer may wait in the inbox: the policy changes answers, and does not state how it changes those there. */
	readonly noInbox?: true;
}

/** A delegation on the way to a call of a sub-agent: the agent, and the call that delegated to it. */
export interface CallPathStep {
	/** Name of the sub-agent. */
	readonly agent: string;
	/** Id of the delegating call, unique in the session of that call. */
	readonly toolCallId: string;
}

/** A call of a sub-agent's run that needs an outside answer. */
export interface NestedCall extends PendingCall {
	/** The id under which the call is known in this session; `callId` is its own. */
	readonly id: string;
	/** The delegations from this run down to the run of the call, the first of them a call of this run. */
	readonly path: readonly CallPathStep[];
	readonly toolName: string;
	readonly arguments: Readonly<Record<string, unknown>>;
}

/** A call of this run whose sub-agent waits, or shows calls that wait while it still runs others. */
export interface WaitingChild {
	/** The delegating call of this run. */
	readonly callId: string;
	/** Name of the sub-agent. */
	readonly agent: string;
	/** Where its session is in the store. */
	readonly storeKey: string;
	/** Seq of the last entry of its session. When that moves on, the call continues. */
	readonly seq: number;
	/** Set while its run is in progress: it takes answers and expires its own calls. */
	readonly status?: "running";
	/**
	 * The calls it waits for, including those of its own sub-agents; none if it waits for a time, or for other work in
	 * its session.
	 */
	readonly calls: readonly NestedCall[];
	/** Its other wait; of several, the one that ends first. */
	readonly wait?: PendingWait;
}

/** A run waits for a time or an input, whichever comes first. */
export interface PendingWait {
	/** The subject of the wait: the strategy's own tag; `model` for the provider of its model. */
	readonly tag: string;
	/** Milliseconds since the epoch. Absent: it waits for an input alone. */
	readonly until?: number;
	/** Set where not the strategy waits, but the run for its model, whose provider is busy or cannot be reached. */
	readonly model?: {
		/** Milliseconds since the epoch when the model failed first, with no answer since. */
		readonly since: number;
		/** How often it has failed since. */
		readonly attempt: number;
		/** Code of the provider's last error. */
		readonly code: string;
	};
}

/** The run waits for an outside answer, without occupying a process. */
export interface Waiting {
	readonly kind: "waiting";
	readonly step: number;
	/** The calls that need an answer; none if a strategy waits. */
	readonly calls: readonly PendingCall[];
	/** Calls whose sub-agents wait. */
	readonly children?: readonly WaitingChild[];
	readonly wait?: PendingWait;
}

/**
 * Calls wait for outside answers while others of their round still run, here or in a sub-agent: the run continues, and
 * answers are accepted. It lists all calls that wait then, replacing an earlier list.
 */
export interface ToolsPending {
	readonly kind: "tools.pending";
	readonly step: number;
	readonly calls: readonly PendingCall[];
	readonly children?: readonly WaitingChild[];
}

/** The time for which a strategy waited has come. */
export interface WaitEnded {
	readonly kind: "wait.ended";
	readonly step: number;
	readonly tag: string;
	readonly until: number;
}

/** A message was appended to the history from outside, apart from inputs to a run. */
export interface MessageAdded {
	readonly kind: "message.added";
	readonly message: Message;
}

/** A message was replaced in the history by an edited one of the same id. */
export interface MessageUpdated {
	readonly kind: "message.updated";
	readonly messageId: string;
	readonly message: Message;
}

/** A message was taken out of the history. */
export interface MessageDeleted {
	readonly kind: "message.deleted";
	readonly messageId: string;
}

/** A message of the user and all that followed it were taken out of the history: the run takes their place. */
export interface HistoryCut {
	readonly kind: "history.cut";
	readonly messageId: string;
}

/** A run ended; exactly one a run, always its last fact. */
export interface RunEnded {
	readonly kind: "run.ended";
	readonly outcome: RunOutcome;
	readonly error?: ErrorData;
	/** The partial text of an answer that never finished; shown, never sent to a model. */
	readonly partial?: AssistantMessage;
}

/** The folded state of all entries up to this one, which replaces them at the seq of the last. */
export interface Folded {
	readonly kind: "folded";
	readonly state: AgentStateJSON;
	/** For each message of tool results, the tools that returned them; null for a message that was edited since. */
	readonly tools: readonly (readonly string[] | null)[];
	/** Ids of the messages whose files a provider refused: their files are not shown to a model. */
	readonly refused?: readonly string[];
}

/**
 * A boundary of a turn or step, on the next committed fact or chunk. The step number is implied: `step_end` ends the step
 * of the previous fact, `step_start` starts the following one.
 */
export type BoundaryMark = "turn_start" | "step_start" | "step_end";

/** Optional fields of every fact of a run. */
interface Marked {
	/**
	 * The boundaries emitted since the previous fact or chunk. Absent if there are none; on the start or resume of a run:
	 * if an earlier release without boundaries wrote it.
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
	/** Position in the session, from 1, without gaps; a `folded` fact is at the last position of those it replaced. */
	readonly seq: number;
	/** Milliseconds since the epoch, by the writer's clock. */
	readonly at: number;
	readonly runId: string;
	readonly fact: Fact;
}
