// The parts of the loop: everything that may take time or access external resources is passed in.
import type { MemoryClient } from "@holdfast/memory";
import type { RequestedCall, Situation } from "holdfast/execution";
import type {
	ModelRequest,
	Planner,
	PlannerState,
	Reflector,
	RoutedCall,
	RunnerStep,
	RunnerTool,
	RunOptions,
} from "../contract/index.ts";

/** The state of a run in this process, by id. It is not needed after a crash, because it can be rebuilt. */
export interface LiveRun {
	readonly runId: string;
	readonly sessionId: string;
	/** Returns random numbers for one planning, reflection or call: with a seed the same ones, even after a crash. */
	random(purpose: string): () => number;
	readonly clock: { now(): number };
	/** The memory of the run. */
	readonly memory: MemoryClient;
	/** The options that the session was created with. */
	options(): Promise<RunOptions>;
	/** An iteration starts. */
	stepStarts(step: number): void;
	/** Calls a model; streamed text is emitted. */
	callModel(request: ModelRequest, signal: AbortSignal): Promise<RoutedCall>;
	renderPrompt(
		id: string,
		params: Readonly<Record<string, unknown>> | undefined,
	): Promise<{ readonly text: string; readonly version: string }>;
}

/** The tools that are registered with the engine. */
export type KnownTools = Situation["tools"];

/** The loop's parts. */
export interface LoopParts {
	readonly agentId: string;
	readonly task?: string;
	readonly planner: Planner;
	readonly reflector?: Reflector | undefined;
	goalMet?(state: PlannerState): boolean | Promise<boolean>;
	readonly maxSteps?: number | undefined;
	readonly storeReasoning: boolean;
	readonly safetyBudget: number;
	/** Where outputs are stored: in the caller's client, by a call; in the run's own memory; or nowhere. */
	readonly remembers: "by-call" | "with-run" | false;
	/** Tools that the planner may choose from. */
	tools(known: KnownTools): readonly Pick<RunnerTool, "id" | "description" | "schema">[];
	/** Returns the engine's call that runs a step; undefined if no tool can. `ask`: a person has to approve it. */
	callOf(
		step: RunnerStep,
		iteration: number,
		ask: string | undefined,
		known: KnownTools,
	): RequestedCall | undefined;
	/** Returns the run in this process. */
	live(runId: string, sessionKey: string | undefined): LiveRun;
}
