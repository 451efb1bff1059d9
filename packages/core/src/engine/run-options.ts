// What a run consists of: the agent, the destination of its facts, the source of its inputs, and its policy.
import type { Fact, Placement, SessionState, ToolsPending, Watcher } from "../facts/index.ts";
import type { Append, AppendResult, MaybePromise, StoredInput } from "../host/index.ts";
import type { Admitting, DrivenStages } from "../policy/index.ts";
import type { AgentState } from "../state/index.ts";
import type { ToolContext } from "../tools/index.ts";
import type { EngineAgent } from "./engine-agent.ts";
import type { Ledger } from "./ledger.ts";
import type { ModelWait } from "./model-wait.ts";
import type { Run } from "./run.ts";
import type { RunObserver } from "./run-observer.ts";

/** The destination of a run's facts: the lease of a session, or nowhere for a pure call. */
export interface Recorder {
	append(batch: Append): MaybePromise<AppendResult>;
	/** Inputs that wait for this run. */
	inbox(): MaybePromise<readonly StoredInput[]>;
	/** Looks whether this process may still append; when not, the run is stopped. Absent: only an append finds out. */
	check?(): void;
	/** `nothing`: no reader will ever ask for what was committed. Default `facts`. */
	readonly keeps?: "facts" | "nothing";
}

/** An input that a running turn can accept. */
export interface RunInput {
	readonly inputId: string;
	/** Builds the fact once it is known where the input lands. */
	fact(placement: Placement): Fact;
}

export interface RunOptions {
	readonly agent: EngineAgent;
	readonly runId: string;
	readonly sessionKey?: string;
	/** Names its session among all of this process: calls that wait for it are known by that. */
	readonly processKey?: string;
	readonly state: SessionState;
	readonly recorder: Recorder;
	readonly watchers?: readonly Watcher[] | undefined;
	/** Turns an input of the store's inbox into one of this run. */
	readonly readInput?: (input: StoredInput) => RunInput;
	/** The tool call in which the agent itself runs, when it is a sub-agent. */
	readonly parentContext?: ToolContext | undefined;
	/** The interceptors of its stages. */
	readonly interceptors?: DrivenStages | undefined;
	/** The admission of its facts and deltas before they are committed and emitted. */
	readonly admitting?: Admitting | undefined;
	/** Called with each state at the end of a step. Must not throw. */
	readonly afterStep?: ((state: AgentState) => void) | undefined;
	/** Keeps records of the run in addition to its journal. */
	readonly ledger?: Ledger | undefined;
	/**
	 * Milliseconds for which deltas are gathered before they are kept for those who follow with offsets. Default: they
	 * are not kept.
	 */
	readonly keepDeltasMs?: number | undefined;
	/** Absent: nothing comes from outside while the run is under way. */
	readonly answers?: OutsideAnswers | undefined;
	/** Whether the inbox held answers when the run was resumed. */
	readonly hasAnswers?: boolean;
	/** Whether calls may wait for outside answers: the run is recorded and can continue later. Default: they may not. */
	readonly mayWait?: boolean;
	/** Whether the model is asked for whole answers, also where it can stream them. Default `"streamed"`. */
	readonly asks?: "whole" | "streamed";
	/** Sees its events, and what its model throws. */
	readonly observer?: RunObserver | undefined;
	/** How it waits where the provider of its model cannot be reached. Default: it does not, and fails. */
	readonly modelWait?: ModelWait | undefined;
}

/** Accepts outside answers for some calls of a run while others of the same round are still running. */
export interface OutsideAnswers {
	/** Called when calls are shown that wait, before the fact is committed. Must not throw. */
	shown(fact: ToolsPending): void;
	/**
	 * Takes the answers that are in the store's inbox. `shown`: what is committed before the first of them. False: there was none.
	 */
	take(run: Run, shown: ToolsPending | undefined): Promise<boolean>;
}

/** Options of an append besides its facts. */
export type CommitOptions = Pick<Append, "drain" | "dedupeKey" | "values" | "onlyIfNothingWaits">;
