// The public contract of agents, sessions and runners.
import type { AgentResult } from "./agent-result.ts";
import type { RunnerTool } from "./tool-definition.ts";

/** How one session is started. */
export interface RunOptions {
	/** Iterations at most, of this session. */
	readonly maxSteps?: number;
	/** The task. Default: the agent's `taskPrompt`. */
	readonly task?: string;
	/** The memory stream that the planner sees. Default: none. */
	readonly contextKey?: string;
	/** Ids, times, delays and random numbers come from the seed alone; every client must be `deterministic`. */
	readonly deterministic?: boolean;
	/** Default: 0 with `deterministic`, else random. */
	readonly seed?: number;
	/** Default: a new UUIDv4. */
	readonly sessionId?: string;
}

/** What `on` takes. */
export type AgentEventName = "step" | "tool" | "error" | "metrics";

/** One check of `health()`. */
export interface HealthCheck {
	readonly name: string;
	readonly ok: boolean;
	readonly message?: string;
}

/** What `health()` gives. */
export interface Health {
	readonly status: "ok" | "degraded" | "stopped";
	readonly checks: readonly HealthCheck[];
}

/** One run, with state of its own. */
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
