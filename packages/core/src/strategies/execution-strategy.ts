// The public shape of strategies, custom ones included.
import type { LLMInstance, Message, Tool } from "@holdfast/upp";
import type { AgentStrategy, AgentStreamResult, Decider } from "../engine/index.ts";
import type { AgentState, GenerateResult } from "../state/index.ts";

/** The agent in the form that a strategy sees: the agent object itself. */
export interface StrategyAgent {
	/** The agent's id. */
	readonly id: string;
	/** Its model, as given. */
	readonly model?: unknown;
	/** The configuration of its provider, as given. */
	readonly config?: unknown;
	/** Its instructions, as given. */
	readonly system?: unknown;
	/** Its tools, as given. */
	readonly tools: readonly unknown[];
}

/** Identifies an agent. */
export interface AgentRef {
	/** The agent's id. */
	readonly id: string;
	/** Its instructions. */
	readonly system?: unknown;
}

/** The context of a strategy. */
export interface ExecutionContext {
	/** The agent that was called. */
	readonly agent: StrategyAgent;
	/** The agent's model with its options; it runs the agent's tools itself. */
	readonly llm: LLMInstance;
	/** The message to answer. */
	readonly input: Message;
	/** The conversation before the input. */
	readonly state: AgentState;
	/** The agent's tools. */
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
	/** Identifies the strategy in errors. */
	readonly name: string;
	/** Answers the input, and returns the turn with the state after it. */
	execute(context: ExecutionContext): Promise<ExecutionResult>;
	/** Like `execute`, with events while it works. */
	stream(context: ExecutionContext): AgentStreamResult;
}

/** A strategy that is a decider: the engine drives it step by step. */
export interface DecidingStrategy extends ExecutionStrategy, Decider {}
