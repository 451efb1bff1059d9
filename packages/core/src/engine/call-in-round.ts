// One call of a round and its phase: waiting → preparing → running or pending → settled. The round changes the phase.
// While an outside answer is recorded, the call moves from pending to answering (it may run and is prepared next) or to
// settling (it has its result).
import type { ToolCall } from "@holdfast/upp";
import type { CallState, PendingWait, ToolStarted } from "../facts/index.ts";
import { type Approval, type EngineTool, orderRound, type ToolOutcome } from "../tools/index.ts";
import type { CallContext, ShownChild } from "./call-context.ts";
import type { CheckedCall } from "./check-call.ts";
import type { Run } from "./run.ts";
import type { ChildWaits } from "./stopped.ts";

export interface CallInRound {
	readonly call: ToolCall;
	readonly index: number;
	/** Set for calls that a model made: the tools that it was sent. */
	readonly offered: CallState["offered"];
	/** Ids of calls that must settle first and have not. */
	readonly waitsFor: Set<string>;
	/** Set if an earlier process started the call, or if it was started before it waited. */
	started: ToolStarted | undefined;
	phase: "waiting" | "preparing" | "running" | "pending" | "answering" | "settling" | "settled";
	/** The question for an outside answer, while it is pending. */
	pending?: Extract<CheckedCall, { kind: "pending" }>;
	/** The call's sub-agent, if the call is pending because the sub-agent waits. */
	child?: ChildWaits;
	/** The call's earlier wait for a time, when it is checked again. */
	waited?: PendingWait | undefined;
	/** The waits of the call's sub-agent while both run. */
	shown?: ShownChild | undefined;
	/** Set if the call is recorded as started but no process called its function. */
	neverRan?: true;
	attempt: number;
	/** The same for every attempt, across restarts. */
	readonly idempotencyKey: string;
	tool: EngineTool | undefined;
	input: unknown;
	approved?: boolean;
	/** The approval under which it runs. */
	approval?: Approval;
	startedAt: number;
	context: CallContext | undefined;
	/** Cancels the call alone; set for calls of code once they run or are cancelled. */
	cancelling?: AbortController;
	/** The tool's own outcome, while a hook examines it. */
	came?: ToolOutcome;
	/** The stack trace of the error that the tool threw. */
	stack?: string | undefined;
}

const underWay: ReadonlySet<CallInRound["phase"]> = new Set([
	"preparing",
	"running",
	"answering",
	"settling",
]);

/** Whether the call will progress without an outside answer. */
export function isUnderWay({ phase }: CallInRound): boolean {
	return underWay.has(phase);
}

/** Most calls wait for no other call, and share this set. */
const waitsForNone: Set<string> = new Set();

/** How calls join a round. */
export interface Joins {
	/** The calls of an answer, or those of code: see `StartGate`. */
	readonly madeBy: "answer" | "code";
	/** How many calls joined earlier. */
	readonly earlier: number;
	/** Earlier calls without a result. */
	readonly open: readonly CallInRound[];
}

/**
 * Creates the calls that join a round, in the order that their tools require, and explains which calls wait for
 * themselves. A call that joins later waits for open calls, and calls that have started wait for none.
 */
export function joinRound(
	run: Run,
	name: string,
	asked: readonly CallState[],
	{ madeBy, earlier, open }: Joins,
): { readonly joined: CallInRound[]; readonly cyclic: ReadonlyMap<string, string> } {
	const { waitsFor, cyclic } =
		madeBy === "answer" ? ordered(run, asked, open) : dependencies(run, asked, open);
	const names = [run.runId, name];
	const joined = asked.map((state, at) => callInRound(state, earlier + at, names, waitsFor));
	return { joined, cyclic };
}

function ordered(
	{ agent }: Run,
	asked: readonly CallState[],
	open: readonly CallInRound[],
): ReturnType<typeof orderRound> {
	const calls = asked.map(({ call }) => call);
	if (open.length > 0) calls.unshift(...open.map(({ call }) => call));
	return orderRound(calls, agent.tools);
}

/** The waits of `dependsOn`. */
function dependencies(
	run: Run,
	asked: readonly CallState[],
	open: readonly CallInRound[],
): ReturnType<typeof orderRound> {
	const tools = [...run.agent.tools.values()];
	if (tools.every(({ dependsOn }) => dependsOn.length === 0)) return unordered;
	const explicit = new Map(tools.map(({ name, dependsOn }) => [name, { name, dependsOn }]));
	const calls = [...open, ...asked].map(({ call }) => call);
	return orderRound(calls, explicit);
}

const unordered: ReturnType<typeof orderRound> = { waitsFor: new Map(), cyclic: new Map() };

/** Creates a call in its first phase. `name` combines the name of the run and the call's position in it. */
function callInRound(
	{ call, settled, started, approval, neverRan, offered }: CallState,
	index: number,
	name: readonly string[],
	waitsFor: ReadonlyMap<string, Iterable<string>>,
): CallInRound {
	const waits = waitsFor.get(call.toolCallId);
	const begun: CallInRound = {
		call,
		index,
		offered,
		waitsFor: waits === undefined ? waitsForNone : new Set(waits),
		started: settled === undefined ? started : undefined,
		phase: settled === undefined ? "waiting" : "settled",
		attempt: (started?.attempt ?? 0) + 1,
		// `join` produces one flat string; V8 would keep a template as a tree of its pieces.
		idempotencyKey: started?.idempotencyKey ?? [...name, index].join("."),
		startedAt: 0,
		// Set up front to keep V8's object shape stable.
		tool: undefined,
		input: undefined,
		context: undefined,
	};
	if (approval !== undefined) {
		begun.approval = approval;
		begun.approved = true;
	}
	if (neverRan !== undefined) begun.neverRan = neverRan;
	return begun;
}

/** Returns the ids of calls that are recorded as started but whose functions never ran in any process. */
export function neverRan(calls: Iterable<CallInRound>): readonly string[] {
	const isUntouched = ({ phase, context, started, neverRan: before }: CallInRound): boolean =>
		phase === "running" && context === undefined && (started === undefined || before === true);
	return [...calls].filter(isUntouched).map(({ call }) => call.toolCallId);
}

/** Prepares a call that waited for another check. */
export function takeUp(each: CallInRound, { state }: Pick<Run, "state">): CallInRound {
	const { toolCallId } = each.call;
	const calls = state.run?.calls;
	// Calls of code may have joined the round while the record of its earlier calls was being closed.
	const isThere = calls?.at(each.index)?.call.toolCallId === toolCallId;
	const { started, approval } = (isThere ? calls?.at(each.index) : calls?.withId(toolCallId)) ?? {};
	each.started = started;
	each.attempt = (started?.attempt ?? 0) + 1;
	if (approval !== undefined) {
		each.approval = approval;
		each.approved = true;
	}
	return each;
}
