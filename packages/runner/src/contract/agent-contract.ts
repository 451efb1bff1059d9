// The public contract of agents, sessions and runners.
import type { AgentResult } from "./agent-result.ts";
import type { RunnerTool } from "./tool-definition.ts";

/** Options of one session. */
export interface RunOptions {
	/** Maximum number of iterations of this session. Default: the agent's `maxSteps`. */
	readonly maxSteps?: number;
	/** The task. Default: the agent's `taskPrompt`. */
	readonly task?: string;
	/** The memory stream that the planner sees. Default: none. */
	readonly contextKey?: string;
	/**
	 * Whether ids, times, delays and random numbers are derived from the seed alone; every client must be
	 * `deterministic`. Default: false.
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
	/** The id of a model provider, or `memory` or `database`. */
	readonly name: string;
	/** Whether the check succeeded. */
	readonly ok: boolean;
	/** Why it failed, redacted. */
	readonly message?: string;
}

/** The result of `health()`. */
export interface Health {
	/** `degraded`: at least one check failed. `stopped`: `stop()` was called. */
	readonly status: "ok" | "degraded" | "stopped";
	/** One check for each model provider, for the memory and for the database. */
	readonly checks: readonly HealthCheck[];
}

/** One run, with its own state. */
export interface RunnerSession {
	/** The session id: that of the options, or a new UUIDv4. */
	readonly id: string;
	/** Starts the run and returns its result; failures are results with `success: false`. */
	run(): Promise<AgentResult>;
	/** Ends the run with the error `ABORTED`. */
	abort(): void;
}

/** An agent. */
export interface RunnerAgent {
	/** The id from the configuration. */
	readonly id: string;
	/** Initialises clients, once. */
	start(): Promise<void>;
	/** Returns the state of the models and stores. Never rejects. */
	health(): Promise<Health>;
	/**
	 * Prepares a run, which starts with `run()` of the session. @throws HoldfastError `AGENT_STOPPED`,
	 * `CONFIG_INVALID`.
	 */
	createSession(options?: RunOptions): RunnerSession;
	/**
	 * Runs one new session and returns its result. Resolves with `success: false` if the run fails; rejects with
	 * `AGENT_STOPPED` or `CONFIG_INVALID` if it cannot start.
	 */
	runOnce(options?: RunOptions): Promise<AgentResult>;
	/** `runOnce()`. */
	run(options?: RunOptions): Promise<AgentResult>;
	/** Adds a tool. @throws HoldfastError `RBAC_DENIED`, `TOOL_INVALID`, `TOOL_DUPLICATE`, `SCHEMA_INVALID`. */
	registerTool(tool: RunnerTool): void;
	/** Returns the registered tool with this id. */
	getTool(id: string): RunnerTool | undefined;
	/** Returns all registered tools, including those that policy does not allow. */
	listTools(): readonly RunnerTool[];
	/** Calls the handler for each such event. @throws HoldfastError `EVENT_UNKNOWN`. */
	on(event: AgentEventName, handler: (data: unknown) => void): void;
	/** Ends the agent: waits for running sessions, then closes every client. Never rejects. */
	stop(): Promise<void>;
}
