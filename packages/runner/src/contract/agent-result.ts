// The outcome of a run: a projection of its journal, as plain data.
import type { RunnerEvent } from "./events.ts";
import type { ModelResponse } from "./llm-client.ts";
import type { ActionResult, ResultError } from "./plan-step.ts";

/** One model call, including failed ones. */
export interface ModelCall {
	/** Id of the provider. */
	readonly provider: string;
	readonly model?: string;
	/** The template, or the purpose of the call. */
	readonly promptRef: string;
	readonly inputTokens?: number;
	readonly outputTokens?: number;
	/** Set if the client reported no usage, so that it was estimated. */
	readonly estimated?: true;
	/** In milliseconds. */
	readonly duration: number;
	readonly outcome: "ok" | "failed";
	readonly error?: ResultError;
	/** US dollars; absent if the provider has no price. */
	readonly cost?: number;
}

/** Tokens of all calls. */
export interface RunTokenUsage {
	readonly inputTokens: number;
	readonly outputTokens: number;
	readonly totalTokens: number;
	/** Set if a client reported no usage, so that it was estimated. */
	readonly estimated?: true;
}

/** One change of memory or a database. */
export interface MemoryChange {
	readonly store: "memory" | "database";
	readonly operation: "append" | "write" | "clear";
	/** The stream, or collection and key. */
	readonly key: string;
	/** Redacted. */
	readonly value?: unknown;
}

/** The origin of a result. */
export interface Provenance {
	readonly templates: readonly { readonly id: string; readonly version: string }[];
	readonly models: readonly string[];
}

/** The outcome of a run. */
export interface AgentResult {
	/** The id of the run. */
	readonly id: string;
	readonly sessionId?: string;
	readonly success: boolean;
	readonly result?: unknown;
	/** The result, if it is a string. */
	readonly summary?: string;
	readonly error?: ResultError;
	/** ISO 8601, UTC. */
	readonly startedAt: string;
	readonly finishedAt: string;
	/** Number of planning iterations. */
	readonly steps?: number;
	readonly actions?: readonly ActionResult[];
	readonly modelCalls?: readonly ModelCall[];
	readonly tokenUsage?: RunTokenUsage;
	/** US dollars; absent if a called provider has no price. */
	readonly costEstimate?: number;
	/** The events, or a reference to the event store that contains them. */
	readonly eventStream?: readonly RunnerEvent[] | string;
	readonly memoryDeltas?: readonly MemoryChange[];
	readonly provenance?: Provenance;
	/** `traces`: failed attempts and calls, and steps that policy changed or stopped, one line each, in order. */
	readonly diagnostics?: { readonly warnings?: readonly string[]; readonly traces?: readonly string[] };
	readonly aborted?: boolean;
	readonly retryInfo?: { readonly attempts: number; readonly lastError?: string };
	readonly seed?: number;
	readonly deterministic?: boolean;
	/** In milliseconds. */
	readonly metrics?: {
		readonly durationMs?: number;
		readonly toolLatencyMs?: Readonly<Record<string, number>>;
	};
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
