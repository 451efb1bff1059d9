// Planners and reflectors: the caller may provide either.
import type { ChatMessage, ModelRequest, ModelResponse } from "./llm-client.ts";
import type { ActionResult, RunnerStep } from "./plan-step.ts";
import type { RunnerTool } from "./tool-definition.ts";

/** A run in the form that a planner sees: a copy, so changes have no effect. */
export interface PlannerState {
	readonly agentId: string;
	readonly sessionId: string;
	/** The task. */
	readonly task: string;
	/** The iteration about to start, from 1. */
	readonly step: number;
	/** The conversation: messages of steps, and outputs of tools in the role `tool`. */
	readonly transcript: readonly ChatMessage[];
	/** The notes of steps of the type `internal`. */
	readonly scratchpad: readonly string[];
	/** The outcomes of all steps so far. */
	readonly actions: readonly ActionResult[];
	/** The outcome of the previous step. */
	readonly lastResult?: ActionResult;
	/** Entries of the memory stream `contextKey`, oldest first; empty without a `contextKey`. */
	readonly memory: readonly unknown[];
	/** Only the allowed tools. */
	readonly tools: readonly Pick<RunnerTool, "id" | "description" | "schema">[];
	/** How many more policy blocks the run may have before it ends. */
	readonly safetyBudget: number;
}

/** The services that a planner may use in addition to the state. */
export interface PlannerContext {
	/** Fires when the run is aborted. */
	readonly signal: AbortSignal;
	/** Returns a number from 0 up to 1, from the session's own seed if the run is deterministic. */
	readonly rng: () => number;
	/** Milliseconds since the epoch, from the seed if the run is deterministic. */
	readonly clock: { now(): number };
	/** Calls a model through the agent's providers, under its policy; recorded as a call of the run. */
	callModel(request: ModelRequest): Promise<ModelResponse>;
	/** Renders a template of the agent's prompt store; recorded as used by the run. */
	renderPrompt(
		templateId: string,
		params?: Readonly<Record<string, unknown>>,
	): Promise<{ readonly text: string; readonly version: string }>;
}

/** Determines the next step of a run. */
export interface Planner {
	/** Called once per iteration. If it throws, the run fails. */
	plan(state: PlannerState, context: PlannerContext): RunnerStep | Promise<RunnerStep>;
}

/** Merges the outcome of a step. It may report that the goal is met. */
export interface Reflector {
	/** Called after each step, with the state that includes its result. `undefined` changes nothing. */
	reflect(
		state: PlannerState,
		result: ActionResult,
		context: PlannerContext,
	): ReflectionResult | undefined | Promise<ReflectionResult | undefined>;
}

/** The result of a reflector. */
export interface ReflectionResult {
	/** Whether the run ends successfully with the last output. */
	readonly goalMet?: boolean;
	/** Added to the scratchpad for the planner. */
	readonly note?: string;
}
