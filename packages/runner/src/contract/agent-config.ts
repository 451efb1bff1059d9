// The configuration of an agent, and the port of a runner that receives it.
import type { DatabaseClient, MemoryClient } from "@holdfast/memory";
import type { Host } from "holdfast";
import type { Ports } from "holdfast/host";
import type { RunnerSession, RunOptions } from "./agent-contract.ts";
import type { AgentResult } from "./agent-result.ts";
import type { EventBus, EventStore } from "./events.ts";
import type { LLMClient, ModelProvider, ScoreProvider } from "./llm-client.ts";
import type { Planner, PlannerState, Reflector } from "./planner.ts";
import type { PromptStore } from "./prompt-store.ts";
import type { AuditSink, PolicyEngine } from "./safety-config.ts";
import type { RunnerTool, ToolExecutor, ToolRetryOptions } from "./tool-definition.ts";

/**
 * The pattern of a content or write rule: a string, a regular expression, or a function that returns whether it matches.
 */
export type ContentMatcher = string | RegExp | ((text: string) => boolean);

/** The action for a matching write: it is masked or dropped. */
export interface WriteRule {
	/** The pattern to look for in the text of a write. */
	readonly match: ContentMatcher;
	/** `redact`: masks what matched. `drop`: skips the write. */
	readonly action: "redact" | "drop";
	/** The name in audit records. Default: `write-filter`. */
	readonly rule?: string;
}

/** Rules for one agent. */
export interface SafetyConfig {
	/** Tools it may use. Default: all registered tools; an empty list allows none. */
	readonly toolAllowlist?: readonly string[];
	/** Tools it may not use; takes precedence over the allowlist. */
	readonly toolDenylist?: readonly string[];
	/** Attempts at a tool per period, over all sessions of the agent. */
	readonly requestRateLimit?: Readonly<Record<string, { readonly max: number; readonly windowMs: number }>>;
	/** Patterns that no prompt and no tool input may contain. */
	readonly contentFilter?: readonly ContentMatcher[];
	/** Called in order with each tool input; each return value replaces the input. */
	readonly sanitizers?: readonly ((toolId: string, input: unknown) => unknown)[];
	/** Rules for writes to memory, databases and prompts. */
	readonly writeFilters?: readonly WriteRule[];
	/** Decides about each step, prompt and write, after the other rules. Default: none. */
	readonly policyEngine?: PolicyEngine;
	/** Milliseconds that a policy engine has to answer. Default: 5000. */
	readonly policyTimeoutMs?: number;
	/** How many blocks are reported to the planner; the next one ends the run. Default: 3. */
	readonly safetyBudget?: number;
	/** A destination for audit records in addition to the journal. */
	readonly auditSink?: AuditSink;
	/** Values to mask everywhere: in events, logs, audit, memory, databases and results. */
	readonly secrets?: readonly string[];
	/** The actor, and its permissions. Default: no role checks. */
	readonly rbac?: {
		readonly roles: readonly string[];
		readonly permissions: Readonly<Record<string, readonly string[]>>;
	};
}

/** Settings that enable features which are disabled by default; the environment provides those that are not given. */
export interface RuntimeFlags {
	/** `AGENT_RUNTIME_ALLOW_NETWORK`. Default: false. */
	readonly allowNetwork?: boolean;
	/** `AGENT_RUNTIME_ALLOW_SHELL`. Default: false. */
	readonly allowShell?: boolean;
	/** `AGENT_RUNTIME_ALLOW_DB_WRITES`. Default: false. */
	readonly allowDbWrites?: boolean;
	/** `AGENT_RUNTIME_LOG_TOOL_INPUTS`. Default: `redacted`. */
	readonly logToolInputs?: "redacted" | "exclude" | "raw";
}

/** Called at certain points of every run. If one throws, the error becomes a warning of the run. */
export interface EventHooks {
	/** Called before each iteration; `step` starts at 1. */
	onStepStart?(info: { readonly sessionId: string; readonly step: number }): void;
	/** Called with each piece of a streamed answer. */
	onModelTokens?(tokens: string): void;
	/** Called before each tool call, with the input as `logToolInputs` shows it. */
	onToolCall?(toolId: string, input: unknown): void;
	/**
	 * Called once for each error of a model, a tool, a policy, a planner or a reflector, including those that were
	 * retried.
	 */
	onError?(error: { readonly code: string; readonly message: string; readonly sessionId: string }): void;
}

/** An agent. */
export interface AgentConfig extends RuntimeFlags, EventHooks {
	/** The agent's id, in results, events and audit records. */
	readonly id: string;
	/** The task of runs that have no `task` of their own. */
	readonly taskPrompt: string;
	/** The tools at the start; `registerTool()` adds more. */
	readonly tools: readonly RunnerTool[];
	/** Clients, models of the AI SDK, or either with declared capabilities. */
	readonly modelProviders: readonly (ModelProvider | LLMClient | ModelProvider["client"])[];
	/**
	 * Stores memory streams. You own its data; the agent starts and closes it. Default: in memory, for each session.
	 */
	readonly memoryClient?: MemoryClient;
	/** Passed to tools as `context.database`. Default: none. */
	readonly databaseClient?: DatabaseClient;
	/**
	 * Provides templates for `renderPrompt()` of planners. Default: none; rendering fails with `PROMPT_NOT_FOUND`.
	 */
	readonly promptStore?: PromptStore;
	/** Maximum number of iterations, at least 1. Default: no limit. */
	readonly maxSteps?: number;
	/** Default: the model planner. */
	readonly planner?: Planner;
	/** Evaluates the outcome of each step. Default: none. */
	readonly reflector?: Reflector;
	/** Runs tools instead of the agent. Default: the agent runs them. */
	readonly toolExecutor?: ToolExecutor;
	/** Runs sessions instead of the built-in loop. Default: the built-in loop. */
	readonly runner?: Runner;
	/** Called after each reflection; `true` ends the run successfully with the last output. */
	goalMet?(state: PlannerState): boolean | Promise<boolean>;
	/** Rules that every step, prompt and write must pass. Default: no rules. */
	readonly safety?: SafetyConfig;
	/** Ids of tools that may run although they are not safe by default. */
	readonly enableTools?: readonly string[];
	/** Retries of tools that have no retry options of their own. */
	readonly retry?: ToolRetryOptions;
	/** Ranks the providers that can serve a call. Default: by priority. */
	readonly score?: ScoreProvider;
	/** Time limit of a model call in milliseconds. Default: no limit. */
	readonly modelTimeoutMs?: number;
	/** How often a planner is called again after an unreadable answer. Default: 1. */
	readonly maxPlanRepairs?: number;
	/** Whether `PlanStep.reason` is stored. Default: false. */
	readonly storeReasoning?: boolean;
	/** Receives each event of a run as it occurs. Default: none. */
	readonly eventBus?: EventBus;
	/** Keeps the events of each run, for `verify()` and `replay()`. Default: none. */
	readonly eventStore?: EventStore;
	/** The host that stores sessions. Default: in memory, for the lifetime of the agent. */
	readonly host?: Host;
	/** Time, ids and timers. Default: the system's. */
	readonly ports?: Partial<Ports>;
	/** Milliseconds to wait for an aborted tool. Default: 1000. */
	readonly abortGraceMs?: number;
	/** Milliseconds that `stop()` waits for running sessions. Default: 10000. */
	readonly shutdownTimeoutMs?: number;
}

/** The argument of an injected runner. */
export interface AgentSpec {
	/** The configuration of the agent. */
	readonly config: AgentConfig;
	/** The options of the session. */
	readonly options: RunOptions;
}

/** Runs sessions instead of the built-in loop. */
export interface Runner {
	/** Runs the session and returns its result. */
	run(session: RunnerSession, spec: AgentSpec): Promise<AgentResult>;
	/** Ends the run of this session. */
	abort(sessionId: string): Promise<void>;
}
