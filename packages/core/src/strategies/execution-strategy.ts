// The public shape of strategies, custom ones included.
import type { LLMInstance, Message, Tool } from "@holdfast/upp";
import type { AgentStrategy, AgentStreamResult, Decider } from "../engine/index.ts";
import type { AgentState, GenerateResult } from "../state/index.ts";

/** The agent in the form that a strategy sees: the agent object itself. */
export interface StrategyAgent {
	readonly id: string;
	readonly model?: unknown;
	readonly config?: unknown;
	readonly system?: unknown;
	readonly tools: readonly unknown[];
}

/** Identifies an agent. */
export interface AgentRef {
	readonly id: string;
	readonly system?: unknown;
}

/** The context of a strategy. */
export interface ExecutionContext {
	readonly agent: StrategyAgent;
	/** The agent's model with its options; it runs the agent's tools itself. */
	readonly llm: LLMInstance;
	readonly input: Message;
	readonly state: AgentState;
	readonly tools: readonly Tool[];
	/** The agent's hooks; an empty object if it has none. */
	readonly strategy: AgentStrategy;
	/** Aborted when the call is cancelled. */
	readonly signal?: AbortSignal;
}

/** The result of a strategy: the turn and the state after it. */
export type ExecutionResult = GenerateResult;

/**
 * How an agent works. A custom strategy runs unchanged; one created by `strategy()` also streams, checkpoints and
 * resumes.
 */
export interface ExecutionStrategy {
	readonly name: string;
	execute(context: ExecutionContext): Promise<ExecutionResult>;
	stream(context: ExecutionContext): AgentStreamResult;
}

/** A strategy that is a decider: the engine drives it step by step. */
export interface DecidingStrategy extends ExecutionStrategy, Decider {}
