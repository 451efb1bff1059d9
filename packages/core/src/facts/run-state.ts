// The folded state of the open run: its calls, its answers, and how often it was interrupted.
import {
	type AssistantMessage,
	emptyUsage,
	type TokenUsage,
	type ToolCall,
	type ToolExecution,
} from "@holdfast/upp";
import { AgentState, List } from "../state/index.ts";
import type { Approval } from "../tools/index.ts";
import { type CallStates, noCalls } from "./call-states.ts";
import type {
	AssistantSaid,
	Decided,
	ErrorData,
	PendingCall,
	PendingWait,
	RunOutcome,
	RunParked,
	RunResumed,
	RunStarted,
	ToolSettled,
	ToolStarted,
	ToolsRequested,
	WaitingChild,
} from "./fact.ts";
import { fingerprintWithSystem } from "./recorded-system.ts";
import { checkedOutput, outputTopic, type RunOutput } from "./run-output.ts";
import type { CacheBreak } from "./sent-prefix.ts";

/** A tool call of the current step. */
export interface CallState {
	readonly call: ToolCall;
	/** Set for calls that a model made: the tools that it was sent. */
	readonly offered?: OfferedTools;
	/** Set once the call is approved, until it needs approval again. */
	readonly approval?: Approval;
	/** Set once the call is started. */
	readonly started?: ToolStarted;
	/** Set if its process committed the start, but was suspended before it called the function. */
	readonly neverRan?: true;
	readonly settled?: ToolSettled;
}

/** Returns a call with the input that is shown, approved and run. */
export function shownCall(call: ToolCall, { input }: PendingCall): ToolCall {
	return input === undefined ? call : { ...call, arguments: input as ToolCall["arguments"] };
}

/** Model calls of a run, the last one first: a linked list, because it grows with every step and is read once. */
export interface Cycle {
	readonly step: number;
	readonly usage: TokenUsage;
	readonly cacheBreak: CacheBreak | undefined;
	readonly before: Cycle | undefined;
}

/** The latest event of a run, as deciders see it. */
export interface LastFact {
	/** The kind of event. */
	readonly kind: "input" | "assistant" | "requested" | "results" | "note" | "decision" | "wait";
	/**
	 * The placement of an input, the tag of an answer or request, the topic of a note or decision, or the subject of a
	 * wait.
	 */
	readonly tag: string;
	/** The value of a note or of a decision's answer, or the end time of a wait. */
	readonly value?: unknown;
	/** Set if the note ended the step. */
	readonly endsStep?: true;
}

/** The run in progress, or the last one. */
export interface RunState {
	readonly runId: string;
	readonly started: RunStarted;
	/** Id of the message that started the turn; empty until it is known. */
	readonly inputId: string;
	readonly status: "running" | "waiting" | RunOutcome;
	/** How often the run was started: 1, plus one for each resume. */
	readonly attempt: number;
	readonly step: number;
	readonly rounds: number;
	readonly last: LastFact;
	/** Position of this run's first message within the history. */
	readonly firstMessage: number;
	readonly calls: CallStates;
	/** Calls of the step that have no result yet. */
	readonly unsettled: number;
	/** Calls that need outside answers: kept while the run waits for them, and until the next step. */
	readonly pending?: readonly PendingCall[] | undefined;
	/** Set while calls wait and others of the round run. The calls of `pending` and `children` can be answered. */
	readonly shows?: "pending" | undefined;
	/**
	 * Calls whose sub-agents wait, or announce calls that wait. Each is listed until it is started again or has its
	 * result.
	 */
	readonly children?: readonly WaitingChild[] | undefined;
	/** The last answer. */
	readonly assistant?: AssistantSaid | undefined;
	/** The strategy's requests since the last answer: the calls of the step. */
	readonly requested?: ToolsRequested | undefined;
	/** The wait of the strategy, or of the run for its model, until the run continues. */
	readonly wait?: PendingWait | undefined;
	readonly executions: List<ToolExecution>;
	/** How many of them were run before the current step. */
	readonly executionsBefore: number;
	readonly usage: TokenUsage;
	readonly cycles: number;
	readonly lastCycle: Cycle | undefined;
	/** Total known price so far in US dollars; `unpriced` counts answers with an unknown price. */
	readonly cost: number;
	readonly unpriced: number;
	readonly error?: ErrorData;
	/** The partial text of an answer that the end of the run interrupted. */
	readonly partial?: AssistantMessage;
	/** Set while the run is suspended on purpose. */
	readonly suspended?: true;
	/** The entry after which an unfinished answer started. */
	readonly answeredAfter?: number;
	/** The most recent notes of policy: the position before them, and that of the last one. */
	readonly asides?: { readonly from: number; readonly until: number };
	/** How often it was resumed after a crash since it last finished a step. */
	readonly crashes: number;
	/** The verdicts on its structured answers; undefined before the first. */
	readonly output?: RunOutput | undefined;
	/** Set while it is parked. */
	readonly parked?: RunParked | undefined;
	/** The fingerprint of the agent that last worked on it. */
	readonly fingerprint: string;
	/** Whether the system prompt that it is sent is recorded, because a function of the agent returned it. */
	readonly instructed: boolean;
	/** The strategy's own folded value; undefined if it has no fold. */
	readonly own?: unknown;
}

/** Whether the step continues after the latest message or request. */
export function stepContinues({ requested, assistant }: RunState): boolean {
	return (requested ?? assistant)?.continues === true;
}

/**
 * Returns the calls of an answer, or of a request of the strategy, before anything happened to them. `state` is that
 * before the answer.
 */
export function newCalls(asked: AssistantSaid | ToolsRequested, state: AgentState): readonly CallState[] {
	if (asked.kind === "tools.requested") return asked.calls.map((call) => ({ call }));
	const { toolCalls = [] } = asked.message;
	const active = asked.prepared?.activeTools;
	const { loadedTools: loaded } = AgentState.partsOf(state);
	const offered: OfferedTools = active === undefined && loaded.length === 0 ? alwaysSent : { active, loaded };
	return toolCalls.map((call) => ({ call, offered }));
}

/** The tools that a model was sent, apart from those that it always is. */
export interface OfferedTools {
	/** The only tools that it was sent. Default: those that are always sent, and the loaded ones. */
	readonly active: readonly string[] | undefined;
	readonly loaded: readonly string[];
}

const alwaysSent: OfferedTools = { active: undefined, loaded: [] };

/**
 * Returns a run that has just started. `firstMessage` is the position of its first message, and `systemHash` identifies
 * the system prompt that was recorded last.
 */
export function newRun(
	runId: string,
	started: RunStarted,
	firstMessage: number,
	systemHash?: string,
): RunState {
	return {
		runId,
		started,
		inputId: "",
		status: "running",
		attempt: 1,
		step: 0,
		rounds: 0,
		last: { kind: "input", tag: "turn" },
		firstMessage,
		calls: noCalls,
		unsettled: 0,
		pending: undefined,
		shows: undefined,
		children: undefined,
		assistant: undefined,
		requested: undefined,
		wait: undefined,
		executions: List.empty(),
		executionsBefore: 0,
		usage: emptyUsage(),
		cycles: 0,
		lastCycle: undefined,
		cost: 0,
		unpriced: 0,
		crashes: 0,
		output: undefined,
		fingerprint: fingerprintOf(started, systemHash),
		instructed: started.system !== undefined,
	};
}

/** Returns the run after a resume. */
export function resumedRun(run: RunState, fact: RunResumed, systemHash?: string): RunState {
	const { suspended: _, parked: __, ...left } = run;
	const { attempt } = fact;
	const fingerprint = fingerprintOf(fact, systemHash);
	const instructed = run.instructed || fact.system !== undefined;
	const crashes = crashesAfter(run, fact);
	return { ...left, status: "running", shows: undefined, attempt, fingerprint, instructed, crashes };
}

/** Policy may have changed the recorded system prompt, so the fingerprint is that of the record. */
function fingerprintOf({ fingerprint, system }: RunStarted | RunResumed, hash: string | undefined): string {
	return system === undefined ? fingerprint : fingerprintWithSystem(fingerprint, hash);
}

/** Returns how often its process has died since the last finished step, after a resume. A release resets the count. */
function crashesAfter({ crashes }: RunState, { reason }: RunResumed): number {
	if (reason === "released") return 0;
	return reason === "crash" ? crashes + 1 : crashes;
}

/** Returns the run after it was suspended on purpose, with the calls that its process never started to run. */
export function suspendedRun(run: RunState, value: unknown, answeredAfter: number): RunState {
	const { neverRan } = (value ?? {}) as { readonly neverRan?: unknown };
	const left: RunState = { ...run, suspended: true, answeredAfter };
	if (!Array.isArray(neverRan)) return left;
	const ids = new Set<unknown>(neverRan);
	const calls = run.calls.changed((each): CallState => {
		const isOpen = each.started !== undefined && each.settled === undefined;
		return isOpen && ids.has(each.call.toolCallId) ? { ...each, neverRan: true } : each;
	});
	return { ...left, calls };
}

/** Returns the call after its start. */
export function startedCall({ neverRan: _, ...call }: CallState, started: ToolStarted): CallState {
	return { ...call, started };
}

/** Returns the run after a decision. A verdict on its output is recorded. */
export function decided(run: RunState, fact: Decided): RunState {
	const last: LastFact = { kind: "decision", tag: fact.topic, value: fact.answer };
	const output =
		fact.topic === outputTopic ? checkedOutput(fact, run.output, run.assistant?.data) : undefined;
	return { ...run, wait: undefined, last, output: output ?? run.output };
}
