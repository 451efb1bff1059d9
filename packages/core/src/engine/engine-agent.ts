// The engine's view of an agent: its options, resolved once at construction.
import type {
	BoundLLMModel,
	JSONSchema,
	LLMRequest,
	LLMResponse,
	Message,
	RetryInfo,
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

/** A tool result as passed to `onObserve`. */
export interface Observation {
	readonly toolCallId: string;
	readonly result: unknown;
	readonly isError: boolean;
	readonly toolName: string;
	readonly arguments: Record<string, unknown>;
	/** Milliseconds. */
	readonly duration: number;
}

/** Lifecycle hooks of an agent; all optional. A returned promise is awaited. A hook that throws fails the run. */
export interface AgentStrategy {
	/** Asked once after every step, with that step's state; `true` ends the run. */
	stopCondition?(state: AgentState): boolean | Promise<boolean>;
	onStepStart?(step: number, state: AgentState): void;
	onReason?(step: number, reasoning: string): void;
	/** Before the calls of a step are carried out. */
	onAct?(step: number, actions: readonly ToolCall[]): void;
	/** After all calls of a step have their results. */
	onObserve?(step: number, observations: readonly Observation[]): void;
	onStepEnd?(step: number, result: { turn: Turn; state: AgentState }): void;
	onComplete?(result: GenerateResult): void;
	/** A GenerateResult returned here becomes the call's result; with nothing, the error reaches the caller. */
	onError?(error: unknown, state: AgentState): unknown;
}

/** A model's answer. A model that ran tools itself also reports the messages before it. */
export interface EngineResponse extends LLMResponse {
	/** Answers that called tools, and the results of those calls, in order. */
	readonly preceding?: readonly Message[];
	readonly executions?: readonly ToolExecution[];
	/** A result for each call of `message`, in its order, of a model that carried those out too. */
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
			onRetry?: (info: RetryInfo) => void;
		},
	): LLMRequest;
	readonly price?: ModelPrice;
	/** A function of the caller's, which may use sessions like a tool. */
	readonly isFunction?: true;
}

/** The structured output that an agent's runs require. */
export interface EngineOutput {
	/** The schema that the model is shown. */
	readonly structure: JSONSchema;
	/** How often in a row a wrong answer goes back to the model. */
	readonly repairs: number;
	/** Holds an answer against the schema. Throws where the schema gives what cannot be recorded. */
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
	/** On record with its runs, for those who observe them. */
	readonly name?: string;
	/** Throws `model_missing` when the agent has none. */
	model(): EngineModel;
	readonly tools: ReadonlyMap<string, EngineTool>;
	readonly toolList: readonly EngineTool[];
	readonly decider: Decider;
	/** Absent where any answer will do. */
	readonly output?: EngineOutput;
	readonly hooks: AgentStrategy;
	readonly toolStrategy: ToolUseStrategy;
	/**
	 * The time limit in milliseconds for outside answers to remote calls; undefined: none. A tool's own limit takes
	 * precedence.
	 */
	readonly remoteToolTimeoutMs?: number;
	/** Characters that tools may stream. */
	readonly maxStreamed: { readonly perCall: number; readonly perSession: number };
	/** Milliseconds for which deltas are gathered before they are kept; undefined: they are not kept. */
	readonly keepDeltasMs?: number;
	readonly ports: Ports;
	/** Gets warnings. */
	readonly warn: Warn;
	/** Whether the steps of its runs are limited by an option. */
	readonly stepsAre: "limited" | "unlimited";
	/** Has its runs wait for the event loop now and then. */
	readonly fairness: Fairness;
	/** Names model, instructions and tools, so that a resumed run can know whether they changed. */
	fingerprint(): string;
	/** The agent's part of a tool's context. */
	readonly toolContext: Pick<ToolContext, "parentModel" | "parentConfig">;
}
