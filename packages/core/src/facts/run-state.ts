// The folded state of the open run: its calls, its answers, and how often it was cut off.
import {
	type AssistantMessage,
	emptyUsage,
	type TokenUsage,
	type ToolCall,
	type ToolExecution,
} from "@holdfast/upp";
import { List } from "../state/index.ts";
import type { Approval } from "../tools/index.ts";
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
import { checkedOutput, outputTopic, type RunOutput } from "./run-output.ts";

/** A tool call of the current step. */
export interface CallState {
	readonly call: ToolCall;
	/** Set once it was approved, until it needs approval again. */
	readonly approval?: Approval;
	/** Set once it was started. */
	readonly started?: ToolStarted;
	/** Set if its process committed the start, and was suspended before it called the function. */
	readonly neverRan?: true;
	readonly settled?: ToolSettled;
}

/** A call with the input that is shown, approved and run. */
export function shownCall(call: ToolCall, { input }: PendingCall): ToolCall {
	return input === undefined ? call : { ...call, arguments: input as ToolCall["arguments"] };
}

/** Model calls of a run, the last one first: a chain, for it grows with every step and is read once. */
export interface Cycle {
	readonly usage: TokenUsage;
	readonly before: Cycle | undefined;
}

/** The latest event of a run, as deciders see it. */
export interface LastFact {
	readonly kind: "input" | "assistant" | "requested" | "results" | "note" | "decision" | "wait";
	/**
	 * The placement of an input, the tag of an answer or of what was requested, the topic of a note or decision, what was
	 * waited for.
	 */
	readonly tag: string;
	/** The value of a note or of a decision's answer, or the end time of a wait. */
	readonly value?: unknown;
	/** Set where the step ended with a note. */
	readonly endsStep?: true;
}

/** The run under way, or the last one. */
export interface RunState {
	readonly runId: string;
	readonly started: RunStarted;
	/** Id of the message that began the turn; empty until it is known. */
	readonly inputId: string;
	readonly status: "running" | "waiting" | RunOutcome;
	/** How often the run was started: 1, and one more for each resume. */
	readonly attempt: number;
	readonly step: number;
	readonly rounds: number;
	readonly last: LastFact;
	/** Position of this run's first message within the history. */
	readonly firstMessage: number;
	readonly calls: readonly CallState[];
	/** Calls of the step that have no result yet. */
	readonly unsettled: number;
	/** Calls that need outside answers, while the run waits for them and until the next step. */
	readonly pending?: readonly PendingCall[] | undefined;
	/** Set while calls wait and others of the round run: those of `pending` and `children` can be answered. */
	readonly shows?: "pending" | undefined;
	/** Calls whose sub-agents wait, or show calls that wait; each until it is started again or has its result. */
	readonly children?: readonly WaitingChild[] | undefined;
	/** The last answer. */
	readonly assistant?: AssistantSaid | undefined;
	/** The strategy's requests since then: the calls of the step. */
	readonly requested?: ToolsRequested | undefined;
	/** The wait of the strategy, or of the run for its model, until the run does something else. */
	readonly wait?: PendingWait | undefined;
	readonly executions: List<ToolExecution>;
	/** How many of them were run before the current step. */
	readonly executionsBefore: number;
	readonly usage: TokenUsage;
	readonly cycles: number;
	readonly lastCycle: Cycle | undefined;
	/** Known price so far in US dollars; `unpriced` counts answers whose price is not known. */
	readonly cost: number;
	readonly unpriced: number;
	readonly error?: ErrorData;
	/** The partial text of an answer that the end of the run cut off. */
	readonly partial?: AssistantMessage;
	/** Set while the run was left open on purpose. */
	readonly suspended?: true;
	/** The entry after which an unfinished answer was started. */
	readonly answeredAfter?: number;
	/** The notes of policy that were recorded last: the entry before them, and the last of them. */
	readonly asides?: { readonly from: number; readonly until: number };
	/** How often it was resumed after its process died since it last finished a step. */
	readonly crashes: number;
	/** The verdicts on its structured answers; undefined before the first. */
	readonly output?: RunOutput | undefined;
	/** Set while it is parked. */
	readonly parked?: RunParked | undefined;
	/** The agent that worked on it last. */
	readonly fingerprint: string;
	/** The strategy's own fold; undefined without one. */
	readonly own?: unknown;
}

/** Whether the step continues after the latest message or request. */
export function stepContinues({ requested, assistant }: RunState): boolean {
	return (requested ?? assistant)?.continues === true;
}

export const noCalls: readonly CallState[] = [];

/** A run that has just begun; `firstMessage` is the position its first message will have. */
export function newRun(runId: string, started: RunStarted, firstMessage: number): RunState {
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
		fingerprint: started.fingerprint,
	};
}

/** The run once it is resumed. */
export function resumedRun(run: RunState, fact: RunResumed): RunState {
	const { suspended: _, parked: __, ...left } = run;
	const { attempt, fingerprint } = fact;
	const crashes = crashesAfter(run, fact);
	return { ...left, status: "running", shows: undefined, attempt, fingerprint, crashes };
}

/**
 * How often its process has died since the last finished step, now that the run is resumed. A release resets the count.
 */
function crashesAfter({ crashes }: RunState, { reason }: RunResumed): number {
	if (reason === "released") return 0;
	return reason === "crash" ? crashes + 1 : crashes;
}

/** The run once it was left on purpose, with the calls that its process never began to carry out. */
export function suspendedRun(run: RunState, value: unknown, answeredAfter: number): RunState {
	const { neverRan } = (value ?? {}) as { readonly neverRan?: unknown };
	const left: RunState = { ...run, suspended: true, answeredAfter };
	if (!Array.isArray(neverRan)) return left;
	const ids = new Set<unknown>(neverRan);
	const calls = run.calls.map((each): CallState => {
		const isOpen = each.started !== undefined && each.settled === undefined;
		return isOpen && ids.has(each.call.toolCallId) ? { ...each, neverRan: true } : each;
	});
	return { ...left, calls };
}

/** The call once it is started. */
export function startedCall({ neverRan: _, ...call }: CallState, started: ToolStarted): CallState {
	return { ...call, started };
}

/** The run after a decision; a verdict on its output becomes the known one. */
export function decided(run: RunState, fact: Decided): RunState {
	const last: LastFact = { kind: "decision", tag: fact.topic, value: fact.answer };
	const output =
		fact.topic === outputTopic ? checkedOutput(fact, run.output, run.assistant?.data) : undefined;
	return { ...run, wait: undefined, last, output: output ?? run.output };
}
