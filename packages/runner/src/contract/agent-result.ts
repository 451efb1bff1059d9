// The outcome of a run: a projection of its journal, as plain data.
import type { RunnerEvent } from "./events.ts";
import type { ModelResponse } from "./llm-client.ts";
import type { ActionResult, ResultError } from "./plan-step.ts";

/** One model call, including failed ones. */
export interface ModelCall {
	/** Id of the provider. */
	readonly provider: string;
	/** The model that answered, or the one that was requested. */
	readonly model?: string;
	/** The template, or the purpose of the call. */
	readonly promptRef: string;
	/** Tokens of the prompt. */
	readonly inputTokens?: number;
	/** Tokens of the answer. */
	readonly outputTokens?: number;
	/** Set if the client reported no usage, so that it was estimated. */
	readonly estimated?: true;
	/** In milliseconds. */
	readonly duration: number;
	/** Whether the call returned an answer. */
	readonly outcome: "ok" | "failed";
	/** Why the call failed, redacted. */
	readonly error?: ResultError;
	/** US dollars; absent if the provider has no price. */
	readonly cost?: number;
}

/** Tokens of all calls. */
export interface RunTokenUsage {
	/** Tokens of all prompts. */
	readonly inputTokens: number;
	/** Tokens of all answers. */
	readonly outputTokens: number;
	/** The sum of both. */
	readonly totalTokens: number;
	/** Set if a client reported no usage, so that it was estimated. */
	readonly estimated?: true;
}

/** One change of memory or a database. */
export interface MemoryChange {
	/** Where the change was made. */
	readonly store: "memory" | "database";
	/** The kind of change. */
	readonly operation: "append" | "write" | "clear";
	/** The stream, or collection and key. */
	readonly key: string;
	/** Redacted. */
	readonly value?: unknown;
}

/** The origin of a result. */
export interface Provenance {
	/** The prompt templates that were rendered, without duplicates. */
	readonly templates: readonly { readonly id: string; readonly version: string }[];
	/** Names of the models that were called, without duplicates. */
	readonly models: readonly string[];
}

/** The outcome of a run. */
export interface AgentResult {
	/** The id of the run. */
	readonly id: string;
	/** The id of the session. */
	readonly sessionId?: string;
	/** Whether the run reached its end; otherwise `error` is set. */
	readonly success: boolean;
	/** The input of the step `finish`, or the last output if `goalMet` ended the run. */
	readonly result?: unknown;
	/** The result, if it is a string. */
	readonly summary?: string;
	/** Why the run failed, redacted. */
	readonly error?: ResultError;
	/** ISO 8601, UTC. */
	readonly startedAt: string;
	/** ISO 8601, UTC. */
	readonly finishedAt: string;
	/** Number of planning iterations. */
	readonly steps?: number;
	/** The outcomes of all steps, in order. */
	readonly actions?: readonly ActionResult[];
	/** All model calls, in order. */
	readonly modelCalls?: readonly ModelCall[];
	/** Tokens of all model calls. */
	readonly tokenUsage?: RunTokenUsage;
	/** US dollars; absent if a called provider has no price. */
	readonly costEstimate?: number;
	/** The events, or a reference to the event store that contains them. */
	readonly eventStream?: readonly RunnerEvent[] | string;
	/** The changes of memory and databases, in order. */
	readonly memoryDeltas?: readonly MemoryChange[];
	/** The templates and models that were used. */
	readonly provenance?: Provenance;
	/** `traces`: failed attempts and calls, and steps that policy changed or stopped, one line each, in order. */
	readonly diagnostics?: { readonly warnings?: readonly string[]; readonly traces?: readonly string[] };
	/** Set if the run was aborted. */
	readonly aborted?: boolean;
	/** Retries of model and tool calls; absent if there were none. */
	readonly retryInfo?: { readonly attempts: number; readonly lastError?: string };
	/** Set with `deterministic`: the seed of ids, times and random numbers. */
	readonly seed?: number;
	/** Set if the same seed gives the same run. */
	readonly deterministic?: boolean;
	/** In milliseconds. */
	readonly metrics?: {
		readonly durationMs?: number;
		readonly toolLatencyMs?: Readonly<Record<string, number>>;
	};
	/** Texts that tools attached, by name. */
	readonly attachments?: Readonly<Record<string, string>>;
}

/** A model call in the form that the loop records. */
export interface RoutedCall {
	/** Absent if no provider answered. */
	readonly response?: ModelResponse;
	readonly error?: ResultError;
	/** One for each called provider. */
	readonly calls: readonly ModelCall[];
	/** Calls after the first. */
	readonly retries: number;
}
