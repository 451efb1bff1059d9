// The public contract of agents, sessions and runners.
import type { AgentResult } from "./agent-result.ts";
import type { RunnerTool } from "./tool-definition.ts";

/** Options of one session. */
export interface RunOptions {
	/** Maximum number of iterations of this session. */
	readonly maxSteps?: number;
	/** The task. Default: the agent's `taskPrompt`. */
	readonly task?: string;
	/** The memory stream that the planner sees. Default: none. */
	readonly contextKey?: string;
	/**
	 * Whether ids, times, delays and random numbers are derived from the seed alone; every client must be
	 * `deterministic`.
	 */
	readonly deterministic?: boolean;
	/** Default: 0 with `deterministic`, otherwise random. */
	readonly seed?: number;
	/** Default: a new UUIDv4. */
	readonly sessionId?: string;
}

/** The event names that `on` accepts. */
export type AgentEventName = "step" | "tool" | "error" | "metrics";

/** One check of `health()`. */
export interface HealthCheck {
	readonly name: string;
	readonly ok: boolean;
	readonly message?: string;
}

/** The result of `health()`. */
export interface Health {
	readonly status: "ok" | "degraded" | "stopped";
	readonly checks: readonly HealthCheck[];
}

/** One run, with its own state. */
export interface RunnerSession {
	readonly id: string;
	run(): Promise<AgentResult>;
	abort(): void;
}

export interface RunnerAgent {
	readonly id: string;
	/** Initialises clients, once. */
	start(): Promise<void>;
	health(): Promise<Health>;
	createSession(options?: RunOptions): RunnerSession;
	runOnce(options?: RunOptions): Promise<AgentResult>;
	/** `runOnce()`. */
	run(options?: RunOptions): Promise<AgentResult>;
	registerTool(tool: RunnerTool): void;
	getTool(id: string): RunnerTool | undefined;
	listTools(): readonly RunnerTool[];
	on(event: AgentEventName, handler: (data: unknown) => void): void;
	stop(): Promise<void>;
}
