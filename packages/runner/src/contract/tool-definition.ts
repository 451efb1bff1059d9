// The tools of a runner: their definition, context and output.
import type { DatabaseClient, MemoryClient } from "@holdfast/memory";
import type { ActionResult, RunnerStep } from "./plan-step.ts";

/** The context of a running tool or an injected executor. */
export interface RunnerToolContext {
	readonly agentId: string;
	readonly sessionId: string;
	/** Fires when the run is aborted, or the tool's time has expired. */
	readonly signal: AbortSignal;
	/** A number from 0 up to 1; of the session's own seed where the run is deterministic. */
	readonly rng: () => number;
	/** Milliseconds since the epoch. */
	readonly clock: { now(): number };
	/** The memory of the session. */
	readonly memory: MemoryClient;
	/** The database of the agent, where it has one. */
	readonly database?: DatabaseClient;
	/** From 1. */
	readonly step: number;
	/** The attempt at this call, from 1. */
	readonly attempt: number;
	/** The same for every attempt at this call, across restarts. */
	readonly idempotencyKey: string;
	/** Whether the agent may change databases: its flag `allowDbWrites`. */
	readonly allowDbWrites: boolean;
}

/** A structured return value of a tool. Error codes are in `meta.code`. */
export interface ToolOutput {
	readonly ok: boolean;
	readonly output?: unknown;
	readonly meta?: ToolMeta;
}

/** Metadata of a tool's output. */
export interface ToolMeta {
	readonly code?: string;
	/** Whether trying again may help. */
	readonly retriable?: boolean;
	/** Names and texts that are given on in the result of the run. */
	readonly attachments?: Readonly<Record<string, string>>;
	readonly [name: string]: unknown;
}

/** How often a failing tool is tried, and how long is waited between. */
export interface ToolRetryOptions {
	/** Default: 3. */
	readonly maxAttempts?: number;
	/** Milliseconds before the second attempt, doubled each time. Default: 200. */
	readonly baseDelayMs?: number;
	/** Default: 30000. */
	readonly maxDelayMs?: number;
}

/** A tool. */
export interface RunnerTool {
	/** Unique within an agent. */
	readonly id: string;
	readonly description?: string;
	/** JSON Schema of the input. Default: anything. */
	readonly schema?: Readonly<Record<string, unknown>> | boolean;
	/** `false`: it runs only where its id is in `enableTools`. Default: true. */
	readonly safeByDefault?: boolean;
	/** The permission that the tool requires before it runs. */
	readonly requires?: "network" | "shell";
	/** Milliseconds. Default: 30000. */
	readonly timeoutMs?: number;
	/** Whether a call may be made twice without harm. Default: false. */
	readonly idempotent?: boolean;
	readonly retry?: ToolRetryOptions;
	/** Whether an error that it threw may be gone when it is tried again. */
	classify?(error: unknown): "retriable" | "fatal";
	run(input: unknown, context: RunnerToolContext): unknown;
}

/** Runs steps in place of the built-in executor; it gets only what policy allowed. */
export interface ToolExecutor {
	execute(step: RunnerStep, context: RunnerToolContext): Promise<ActionResult>;
}
