// The parts of a run: the agent, the destination of its facts, the source of its inputs, and its policy.
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
	/** Returns the inputs that wait for this run. */
	inbox(): MaybePromise<readonly StoredInput[]>;
	/** Checks whether this process may still append, and stops the run if not. Absent: only an append can find out. */
	check?(): void;
	/** `nothing`: committed facts will never be read back. Default `facts`. */
	readonly keeps?: "facts" | "nothing";
}

/** An input that a running turn can accept. */
export interface RunInput {
	readonly inputId: string;
	/** Builds the fact once the input's position is known. */
	fact(placement: Placement): Fact;
}

export interface RunOptions {
	readonly agent: EngineAgent;
	readonly runId: string;
	readonly sessionKey?: string;
	/** Identifies its session within this process. Calls that wait for the session are tracked under it. */
	readonly processKey?: string;
	readonly state: SessionState;
	readonly recorder: Recorder;
	readonly watchers?: readonly Watcher[] | undefined;
	/** Converts an input from the store's inbox for this run. */
	readonly readInput?: (input: StoredInput) => RunInput;
	/** The tool call in which the agent itself runs, when it is a sub-agent. */
	readonly parentContext?: ToolContext | undefined;
	/** The interceptors of the run's stages. */
	readonly interceptors?: DrivenStages | undefined;
	/** Admits its facts and deltas before they are committed and emitted. */
	readonly admitting?: Admitting | undefined;
	/** Called with the state at the end of each step. Must not throw. */
	readonly afterStep?: ((state: AgentState) => void) | undefined;
	/** Keeps records of the run in addition to its journal. */
	readonly ledger?: Ledger | undefined;
	/**
	 * Milliseconds for which deltas are collected before they are stored for followers that read by offset. Default:
	 * deltas are not stored.
	 */
	readonly keepDeltasMs?: number | undefined;
	/** Absent: no outside answers are possible while the run is in progress. */
	readonly answers?: OutsideAnswers | undefined;
	/** Whether the inbox held answers when the run was resumed. */
	readonly hasAnswers?: boolean;
	/** Whether calls may wait for outside answers: the run is recorded and can continue later. Default: they may not. */
	readonly mayWait?: boolean;
	/** Whether the model returns complete answers even if it can stream them. Default `"streamed"`. */
	readonly asks?: "whole" | "streamed";
	/** Observes its events and its model's errors. */
	readonly observer?: RunObserver | undefined;
	/** How the run waits if its model's provider cannot be reached. Default: it does not wait, and fails. */
	readonly modelWait?: ModelWait | undefined;
}

/** Accepts outside answers for some calls of a run while others of the same round are still running. */
export interface OutsideAnswers {
	/** Called before the fact that shows waiting calls is committed. Must not throw. */
	shown(fact: ToolsPending): void;
	/**
	 * Applies the answers in the store's inbox. `shown` is committed before the first of them. Returns false if there
	 * were none.
	 */
	take(run: Run, shown: ToolsPending | undefined): Promise<boolean>;
}

/** Options of an append besides its facts. */
export type CommitOptions = Pick<Append, "drain" | "dedupeKey" | "values" | "onlyIfNothingWaits">;
