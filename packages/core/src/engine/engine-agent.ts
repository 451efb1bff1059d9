// The engine's view of an agent: its options, resolved once at construction.
import type {
	BoundLLMModel,
	JSONSchema,
	LLMRequest,
	LLMResponse,
	Message,
	PromptCache,
	RetryInfo,
	System,
	ToolCall,
	ToolExecution,
	ToolResult,
	ToolUseStrategy,
	Turn,
} from "@holdfast/upp";
import type { AssistantSaid, ModelPrice, OutputVerdict } from "../facts/index.ts";
import type { MaybePromise, Ports, Warn } from "../host/index.ts";
import type { AgentState, GenerateResult } from "../state/index.ts";
import type { EngineTool, ToolContext } from "../tools/index.ts";
import type { Decider } from "./action.ts";
import type { Fairness } from "./fairness.ts";
import type { SentTools } from "./loaded-tools.ts";
import type { EngineStep, RunHead, StepToPrepare } from "./prepared-step.ts";
import type { SystemRequest } from "./system-request.ts";

/** A tool result as passed to `onObserve`. */
export interface Observation {
	readonly toolCallId: string;
	/** The result that the model receives. */
	readonly result: unknown;
	/** Whether the call failed. */
	readonly isError: boolean;
	/** The tool that was called. */
	readonly toolName: string;
	/** The arguments of the call. */
	readonly arguments: Record<string, unknown>;
	/** Milliseconds. */
	readonly duration: number;
}

/** Lifecycle hooks of an agent; all optional. A returned promise is awaited. A hook that throws fails the run. */
export interface AgentStrategy {
	/** Called once after each step, with that step's state. Return `true` to end the run. */
	stopCondition?(state: AgentState): boolean | Promise<boolean>;
	/** Called before each step, with its number from 1 and the state before it. */
	onStepStart?(step: number, state: AgentState): void;
	/** Called with the reasoning of each step of `react()`. */
	onReason?(step: number, reasoning: string): void;
	/** Called before the calls of a step are executed. */
	onAct?(step: number, actions: readonly ToolCall[]): void;
	/** Called after all calls of a step have their results. */
	onObserve?(step: number, observations: readonly Observation[]): void;
	/** Called after each step, with the turn so far and the state after it. */
	onStepEnd?(step: number, result: { turn: Turn; state: AgentState }): void;
	/** Called with the result of a run that succeeded, after all middleware. */
	onComplete?(result: GenerateResult): void;
	/** A returned GenerateResult becomes the call's result. If nothing is returned, the error reaches the caller. */
	onError?(error: unknown, state: AgentState): unknown;
}

/** A model's answer. A model that ran tools itself also reports the messages before it. */
export interface EngineResponse extends LLMResponse {
	/** Answers that called tools, and the results of those calls, in order. */
	readonly preceding?: readonly Message[];
	readonly executions?: readonly ToolExecution[];
	/** If the model executed the calls itself: a result for each call of `message`, in order. */
	readonly results?: readonly ToolResult[];
}

/** A bound model, with the function that builds its requests. */
export interface EngineModel {
	readonly model: BoundLLMModel;
	request(
		messages: readonly Message[] | (() => readonly Message[]),
		extra: {
			signal?: AbortSignal;
			tools?: readonly EngineTool[];
			structure?: JSONSchema;
			unparsed?: "keep";
			/** Default: that of the agent. */
			system?: System;
			onRetry?: (info: RetryInfo) => void;
			/** For a model function: the context of this call, for the function's own tools. */
			toolExecution?: ToolContext;
		},
	): LLMRequest;
	readonly price?: ModelPrice;
	/** How its requests use the prompt cache. A key that is not text is that of the session. */
	readonly cache?:
		| (Omit<PromptCache, "key" | "lastIs"> & { readonly key?: string | { readonly of: "session" } })
		| undefined;
	/** The model is a user function, which may use sessions like a tool. */
	readonly isFunction?: true;
}

/** The structured output that an agent's runs require. */
export interface EngineOutput {
	/** The schema that the model is shown. */
	readonly structure: JSONSchema;
	/** How many times in a row an invalid answer is returned to the model. */
	readonly repairs: number;
	/** Validates an answer. Throws if the schema returns a value that cannot be recorded. */
	check(answer: AssistantSaid): MaybePromise<OutputVerdict>;
}

/** The default limits on how many characters tools may stream, in one call and in one session. */
export const streamLimits: EngineAgent["maxStreamed"] = {
	perCall: 16 * 1024 * 1024,
	perSession: 256 * 1024 * 1024,
};

/** An agent in the form that the engine drives. */
export interface EngineAgent {
	readonly id: string;
	/** Recorded with its runs, for observers. */
	readonly name?: string;
	/** Throws `model_missing` if the agent has no model. */
	model(): EngineModel;
	/** The instructions of its requests. */
	readonly system?: System | undefined;
	readonly tools: ReadonlyMap<string, EngineTool>;
	/** The members of `tools` that the model is always sent. */
	readonly toolList: readonly EngineTool[];
	/** The others, by the name of the tool that loads them. Absent if there are none. */
	readonly loadable?: ReadonlyMap<string, readonly EngineTool[]>;
	readonly decider: Decider;
	/**
	 * Returns the system prompt of a run, which is recorded and sent in place of the agent's. Absent if all runs have the
	 * agent's own.
	 */
	instruct?(about: SystemRequest): MaybePromise<System>;
	/**
	 * Returns the changes to one model call; undefined without any. Absent if it never changes one. `tools` are those of
	 * the call; undefined if the strategy withholds them. `own` is the beginning of the run's requests, if it is not that of
	 * the agent.
	 */
	prepare?(
		about: StepToPrepare,
		tools: SentTools | undefined,
		own: RunHead | undefined,
	): MaybePromise<EngineStep | undefined>;
	/** Absent if any answer is valid. */
	readonly output?: EngineOutput;
	readonly hooks: AgentStrategy;
	readonly toolStrategy: ToolUseStrategy;
	/**
	 * The time limit in milliseconds for outside answers to remote calls; undefined: none. A tool's own limit takes
	 * precedence.
	 */
	readonly remoteToolTimeoutMs?: number;
	/** Limits on the characters that tools may stream. */
	readonly maxStreamed: { readonly perCall: number; readonly perSession: number };
	/** Milliseconds for which deltas are collected before they are stored; undefined: deltas are not stored. */
	readonly keepDeltasMs?: number;
	readonly ports: Ports;
	/** Receives warnings. */
	readonly warn: Warn;
	/** Whether an option limits the steps of its runs. */
	readonly stepsAre: "limited" | "unlimited";
	/** Makes its runs yield to the event loop regularly. */
	readonly fairness: Fairness;
	/** Identifies model, instructions and tools, so that a resumed run can detect changes. */
	fingerprint(): string;
	/** The agent's part of a tool's context. */
	readonly toolContext: Pick<ToolContext, "parentModel" | "parentConfig">;
}
