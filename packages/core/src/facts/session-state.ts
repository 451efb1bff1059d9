// A session at one seq, as `evolve` produces it, and functions that read its run.
import type { Message } from "@holdfast/upp";
import { AgentState, type List } from "../state/index.ts";
import type { RunResumed, RunStarted } from "./fact.ts";
import type { OwnFold } from "./own-fold.ts";
import { type SessionSystem, systemAfter } from "./recorded-system.ts";
import { newRun, type RunState, resumedRun } from "./run-state.ts";
import type { SentPrefix } from "./sent-prefix.ts";
import { shownHistory } from "./shown-history.ts";

/** A session at one seq: the fold of its facts. */
export interface SessionState {
	/** The seq of the last fact. */
	readonly seq: number;
	/** The conversation and its metadata, as callers see them. */
	readonly agent: AgentState;
	/** The messages as the model sees them: large outputs are cut, errors and aborts omitted. */
	readonly context: List<Message>;
	/** The last run. @internal */
	readonly run: RunState | undefined;
	/** Number of stored characters of its tools' deltas. */
	readonly streamed: number;
	/** The beginning of the last answered request; undefined before the first. */
	readonly sent: SentPrefix | undefined;
	/** The system prompt that a function of the agent returned last; undefined without any. */
	readonly system: SessionSystem | undefined;
}

/** The agent's settings for a fold: how much of a result a tool shows to the model. */
export interface FoldOptions {
	/** Returns the result as the model sees it; the same value if nothing is cut. */
	show(toolName: string, result: unknown): unknown;
	/** The strategy's fold for each run. Default: none. */
	readonly own?: OwnFold | undefined;
}

/** Returns a session that starts from a given state, whose results the model sees as `show` returns them. */
export function initialSession(agent: AgentState, show?: FoldOptions["show"]): SessionState {
	const { messages } = AgentState.partsOf(agent);
	return {
		seq: 0,
		agent,
		context: show === undefined ? messages : shownHistory(messages, show),
		run: undefined,
		streamed: 0,
		sent: undefined,
		system: undefined,
	};
}

/** Returns the session after a run has started. */
export function startedSession(
	state: SessionState,
	runId: string,
	seq: number,
	fact: RunStarted,
): SessionState {
	const parts = AgentState.partsOf(state.agent);
	const system = systemAfter(state.system, fact.system);
	return {
		seq,
		agent: AgentState.ofParts({ ...parts, step: 0, usage: undefined }),
		context: state.context,
		run: newRun(runId, fact, parts.messages.length, system?.hash),
		streamed: state.streamed,
		sent: state.sent,
		system,
	};
}

/** Returns the session after its run was resumed. */
export function resumedSession(
	state: SessionState,
	run: RunState,
	seq: number,
	fact: RunResumed,
): SessionState {
	const system = systemAfter(state.system, fact.system);
	return { ...state, seq, system, run: resumedRun(run, fact, system?.hash) };
}

/** Returns the messages of the run: its inputs and everything it produced. */
export function runMessages(state: SessionState): readonly Message[] {
	return AgentState.partsOf(state.agent).messages.from(state.run?.firstMessage ?? 0);
}

/** Returns the tokens of each model call of the run, in order. */
export function cycleUsage(run: RunState): { inputTokens: number; outputTokens: number }[] {
	const usages: { inputTokens: number; outputTokens: number }[] = [];
	for (let cycle = run.lastCycle; cycle !== undefined; cycle = cycle.before) {
		const { inputTokens, outputTokens } = cycle.usage;
		usages.push({ inputTokens, outputTokens });
	}
	return usages.reverse();
}
