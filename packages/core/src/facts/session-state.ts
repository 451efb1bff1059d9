// A session at one seq, as `evolve` makes it, and what is read of its run.
import type { Message } from "@holdfast/upp";
import { AgentState, type List } from "../state/index.ts";
import type { OwnFold } from "./own-fold.ts";
import type { RunState } from "./run-state.ts";

/** A session at one seq: the fold of its facts. */
export interface SessionState {
	readonly seq: number;
	/** The conversation and its metadata, as callers see them. */
	readonly agent: AgentState;
	/** The messages as the model sees them: large outputs cut, errors and aborts left out. */
	readonly context: List<Message>;
	/** The last run. @internal */
	readonly run: RunState | undefined;
	/** Characters of the deltas of its tools that are kept. */
	readonly streamed: number;
}

/** The agent's settings for a fold: how much of a result a tool shows to the model. */
export interface FoldOptions {
	/** The result as the model sees it; the same value when nothing is cut. */
	show(toolName: string, result: unknown): unknown;
	/** The strategy's fold for each run. Default: none. */
	readonly own?: OwnFold | undefined;
}

/** A session that begins with a given state. */
export function initialSession(agent: AgentState): SessionState {
	return { seq: 0, agent, context: AgentState.partsOf(agent).messages, run: undefined, streamed: 0 };
}

/** The messages of the run: its inputs and all that was produced. */
export function runMessages(state: SessionState): readonly Message[] {
	return AgentState.partsOf(state.agent).messages.from(state.run?.firstMessage ?? 0);
}

/** Tokens of each model call of the run, in order. */
export function cycleUsage(run: RunState): { inputTokens: number; outputTokens: number }[] {
	const usages: { inputTokens: number; outputTokens: number }[] = [];
	for (let cycle = run.lastCycle; cycle !== undefined; cycle = cycle.before) {
		const { inputTokens, outputTokens } = cycle.usage;
		usages.push({ inputTokens, outputTokens });
	}
	return usages.reverse();
}
