// project: returns the event of a committed entry. Pure: following a journal yields the same events as watching the run.
import { readStopReason, replacedId, type ToolCall } from "@holdfast/upp";
import type {
	InputEvent,
	MessageEvent,
	RunEndEvent,
	RunEvent,
	RunStartEvent,
	ToolEndEvent,
	ToolStartEvent,
	WaitingEvent,
} from "./events.ts";
import type { Entry, Waiting } from "./fact.ts";
import type { Mutable } from "./mutable.ts";
import { hasWaitedByItself, nestedCalls, waitOf } from "./nested-waits.ts";
import { shownCall } from "./run-state.ts";
import type { SessionState } from "./session-state.ts";

/** Returns the event of an entry, given the state after it; undefined for entries that watchers do not see. */
export function project(
	state: SessionState,
	entry: Entry,
	sessionKey: string | undefined,
): RunEvent | undefined {
	const { seq, fact, at } = entry;
	const sub = 0;
	switch (fact.kind) {
		case "run.started":
		case "run.resumed":
			return startEvent(state, entry, sessionKey);
		case "input": {
			const { placement, shape, message, wrapped } = fact;
			const event: Mutable<InputEvent> = { type: "input", seq, sub, placement, shape, message };
			if (wrapped !== undefined) event.wrapped = wrapped;
			return event;
		}
		case "assistant": {
			const { step, tag, message, usage, stopReason, modelId, duration, cost, cacheBreak } = fact;
			const event: Mutable<MessageEvent> = {
				type: "message",
				at,
				seq,
				sub,
				step,
				tag,
				message,
				usage,
				stopReason,
				modelId,
				duration,
			};
			if (cost !== undefined) event.cost = cost;
			if (cacheBreak !== undefined) event.cacheBreak = cacheBreak;
			const replaces = message.metadata === undefined ? undefined : replacedId(message);
			if (replaces !== undefined) event.replaces = replaces;
			return event;
		}
		case "tool.started": {
			const { step, attempt } = fact;
			const index = indexOf(state, fact.callId);
			const call = callAt(state, index, fact.callId);
			const event: Mutable<ToolStartEvent> = {
				type: "tool_start",
				toolName: call.toolName,
				at,
				seq,
				sub,
				step,
				index,
				call,
				input: fact.input ?? call.arguments,
				attempt,
			};
			if (state.run?.requested !== undefined) event.requested = true;
			return event;
		}
		case "tool.settled": {
			const { step, outcome, result, details, stack, duration } = fact;
			const index = indexOf(state, fact.callId);
			const call = callAt(state, index, fact.callId);
			const event: Mutable<ToolEndEvent> = {
				type: "tool_end",
				toolName: call.toolName,
				at,
				seq,
				sub,
				step,
				index,
				call,
				outcome,
				result,
				duration,
			};
			if (details !== undefined) event.details = details;
			if (stack !== undefined) event.stack = stack;
			if (state.run?.requested !== undefined) event.requested = true;
			return event;
		}
		case "note":
			// Retries were emitted when they happened.
			if (fact.topic === "model-retry") return undefined;
			return { type: "note", at, seq, sub, step: fact.step, topic: fact.topic, value: fact.value };
		case "tools.pending":
			return {
				type: "tools_pending",
				at,
				seq,
				sub,
				runId: entry.runId,
				calls: waitingCalls(state, fact),
			};
		case "waiting": {
			const calls = waitingCalls(state, fact);
			const wait = waitOf(fact);
			return {
				type: "waiting",
				at,
				seq,
				sub,
				runId: entry.runId,
				calls,
				...(wait === undefined ? {} : { wait }),
			};
		}
		case "history.cut":
			return { type: "history_cut", seq, sub, messageId: fact.messageId };
		case "run.parked":
			return {
				type: "run_suspended",
				seq,
				sub,
				runId: entry.runId,
				reason: "parked",
				...(fact.error === undefined ? {} : { error: fact.error }),
			};
		case "run.ended":
			return endEvent(state, entry, fact);
		case "tools.requested":
		case "decision":
		case "wait.ended":
		case "message.added":
		case "message.updated":
		case "message.deleted":
		case "folded":
			return undefined;
		default:
			fact satisfies never;
			return undefined;
	}
}

/** Returns the calls that need outside answers: the run's own, then those of sub-agents. */
function waitingCalls(
	state: SessionState,
	{ calls, children }: Pick<Waiting, "calls" | "children">,
): WaitingEvent["calls"] {
	const own = calls.map((pending) => ({
		...pending,
		call: shownCall(callAt(state, indexOf(state, pending.callId), pending.callId), pending),
	}));
	const nested = nestedCalls(children).map(({ call }) => {
		const { id, toolName, arguments: input, ...pending } = call;
		return { ...pending, callId: id, call: { toolCallId: id, toolName, arguments: input } };
	});
	return nested.length === 0 ? own : [...own, ...nested];
}

function startEvent(
	state: SessionState,
	{ seq, runId, fact, at }: Entry,
	sessionKey: string | undefined,
): RunStartEvent {
	const { runKind = "user-turn", agentId, agentName, parent } = state.run?.started ?? {};
	const event: Mutable<RunStartEvent> = {
		type: "run_start",
		at,
		seq,
		sub: 0,
		runId,
		runKind,
		attempt: state.run?.attempt ?? 1,
	};
	if (sessionKey !== undefined) event.sessionKey = sessionKey;
	if (agentId !== undefined) event.agentId = agentId;
	if (agentName !== undefined) event.agentName = agentName;
	if (parent !== undefined) event.parent = parent;
	if (fact.kind === "run.resumed") {
		event.reason = fact.reason;
		if (fact.partial !== undefined) event.partial = fact.partial;
		if (fact.reason === "answered" && state.run !== undefined && hasWaitedByItself(state.run))
			event.afterWait = true;
		if (fact.agentChanged !== undefined) event.agentChanged = fact.agentChanged;
	}
	return event;
}

function endEvent(
	state: SessionState,
	{ seq, runId, at }: Entry,
	fact: Extract<Entry["fact"], { kind: "run.ended" }>,
): RunEndEvent {
	const { run } = state;
	const usage = run?.usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
	const event: Mutable<RunEndEvent> = {
		type: "run_end",
		at,
		seq,
		sub: 0,
		runId,
		outcome: fact.outcome,
		usage,
		steps: run?.step ?? 0,
	};
	if (fact.error !== undefined) event.error = fact.error;
	if (fact.partial !== undefined) event.partial = fact.partial;
	else if (run?.assistant !== undefined) event.stopReason = readStopReason(run.assistant.stopReason);
	if (run !== undefined && run.unpriced === 0) event.cost = run.cost;
	if (fact.outcome === "completed" && run?.output?.verdict?.ok === true) event.output = run.output.value;
	return event;
}

function indexOf(state: SessionState, callId: string): number {
	return state.run?.calls.indexOf(callId) ?? -1;
}

function callAt(state: SessionState, index: number, toolCallId: string): ToolCall {
	return state.run?.calls.at(index)?.call ?? { toolCallId, toolName: "", arguments: {} };
}
