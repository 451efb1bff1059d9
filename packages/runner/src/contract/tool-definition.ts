// The tools of a runner: their definition, context and output.
import type { DatabaseClient, MemoryClient } from "@holdfast/memory";
import type { ActionResult, RunnerStep } from "./plan-step.ts";

/** The context of a running tool or an injected executor. */
export interface RunnerToolContext {
	readonly agentId: string;
	readonly sessionId: string;
	/** Fires when the run is aborted or the tool's time limit expires. */
	readonly signal: AbortSignal;
	/** Returns a number from 0 up to 1, from the session's own seed if the run is deterministic. */
	readonly rng: () => number;
	/** Milliseconds since the epoch. */
	readonly clock: { now(): number };
	/** The memory of the session. */
	readonly memory: MemoryClient;
	/** The database of the agent, if it has one. */
	readonly database?: DatabaseClient;
	/** The iteration, starting at 1. */
	readonly step: number;
	/** The attempt at this call, starting at 1. */
	readonly attempt: number;
	/** The same for every attempt at this call, across restarts. */
	readonly idempotencyKey: string;
	/** Whether the agent may change databases: its flag `allowDbWrites`. */
	readonly allowDbWrites: boolean;
}

/** A structured return value of a tool. Error codes are in `meta.code`. */
export interface ToolOutput {
	/** Whether the call succeeded. */
	readonly ok: boolean;
	/** The output that the planner sees. */
	readonly output?: unknown;
	/** Metadata: a code, whether to retry, attachments. */
	readonly meta?: ToolMeta;
}

/** Metadata of a tool's output. */
export interface ToolMeta {
	/** Identifies the problem of a failed output. */
	readonly code?: string;
	/** Whether a retry may help. */
	readonly retriable?: boolean;
	/** Names and texts that are passed on in the result of the run. */
	readonly attachments?: Readonly<Record<string, string>>;
	/** Metadata of your own, passed on in `ActionResult.meta`. */
	readonly [name: string]: unknown;
}

/** How often a failing tool is tried, and the delays in between. */
export interface ToolRetryOptions {
	/** Default: 3. */
	readonly maxAttempts?: number;
	/** Milliseconds before the second attempt, doubled for each further one. Default: 200. */
	readonly baseDelayMs?: number;
	/** Default: 30000. */
	readonly maxDelayMs?: number;
}

/** A tool. */
export interface RunnerTool {
	/** Unique within an agent. */
	readonly id: string;
	/** Explains the tool to planners. Default: none. */
	readonly description?: string;
	/** JSON Schema of the input. Default: anything. */
	readonly schema?: Readonly<Record<string, unknown>> | boolean;
	/** If `false`, the tool only runs if its id is in `enableTools`. Default: true. */
	readonly safeByDefault?: boolean;
	/** The permission that the tool requires before it runs. */
	readonly requires?: "network" | "shell";
	/** Time limit in milliseconds. Default: 30000. */
	readonly timeoutMs?: number;
	/** Whether repeating a call is harmless. Default: false. */
	readonly idempotent?: boolean;
	/** Its retry options. Default: those of the agent. */
	readonly retry?: ToolRetryOptions;
	/** Classifies an error that it threw: whether a retry may help. */
	classify?(error: unknown): "retriable" | "fatal";
	/**
	 * Runs the tool. Returns a `ToolOutput`, or any other value as a successful output; an error that it throws is a
	 * failed attempt.
	 */
	run(input: unknown, context: RunnerToolContext): unknown;
}

/** Runs steps instead of the built-in executor; it receives only steps that policy allowed. */
export interface ToolExecutor {
	/** Runs the tool of a step and returns its outcome. */
	execute(step: RunnerStep, context: RunnerToolContext): Promise<ActionResult>;
}
