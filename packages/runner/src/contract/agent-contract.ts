// The public contract of agents, sessions and runners.
import type { AgentSpec, RunOptions } from "./agent-config.ts";
import type { AgentResult } from "./agent-result.ts";
import type { RunnerTool } from "./tool-definition.ts";

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

/** Runs sessions in place of the built-in loop. */
export interface Runner {
	run(session: RunnerSession, spec: AgentSpec): Promise<AgentResult>;
	abort(sessionId: string): Promise<void>;
}
