// The outcome of a run: a projection of its journal, as plain data.
import type { RunnerEvent } from "./events.ts";
import type { ModelResponse } from "./llm-client.ts";
import type { ActionResult, ResultError } from "./plan-step.ts";

/** One call of a model, a failed one included. */
export interface ModelCall {
	/** Id of the provider. */
	readonly provider: string;
	readonly model?: string;
	/** The template, or what the call was for. */
	readonly promptRef: string;
	readonly inputTokens?: number;
	readonly outputTokens?: number;
	/** Set where the client reported no usage, so that it was estimated. */
	readonly estimated?: true;
	/** Milliseconds. */
	readonly duration: number;
	readonly outcome: "ok" | "failed";
	readonly error?: ResultError;
	/** US dollars; absent where the provider has no price. */
	readonly cost?: number;
}

/** Tokens of all calls. */
export interface RunTokenUsage {
	readonly inputTokens: number;
	readonly outputTokens: number;
	readonly totalTokens: number;
	/** Set where a client reported none, so that they were estimated. */
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
	/** The result, where it is a string. */
	readonly summary?: string;
	readonly error?: ResultError;
	/** ISO 8601, UTC. */
	readonly startedAt: string;
	readonly finishedAt: string;
	/** Iterations of planning. */
	readonly steps?: number;
	readonly actions?: readonly ActionResult[];
	readonly modelCalls?: readonly ModelCall[];
	readonly tokenUsage?: RunTokenUsage;
	/** US dollars; absent where a provider that was called has no price. */
	readonly costEstimate?: number;
	/** The events, or where an event store has them. */
	readonly eventStream?: readonly RunnerEvent[] | string;
	readonly memoryDeltas?: readonly MemoryChange[];
	readonly provenance?: Provenance;
	/** `traces`: attempts and calls that failed, and steps that policy changed or stopped, a line each, in order. */
	readonly diagnostics?: { readonly warnings?: readonly string[]; readonly traces?: readonly string[] };
	readonly aborted?: boolean;
	readonly retryInfo?: { readonly attempts: number; readonly lastError?: string };
	readonly seed?: number;
	readonly deterministic?: boolean;
	/** Milliseconds. */
	readonly metrics?: {
		readonly durationMs?: number;
		readonly toolLatencyMs?: Readonly<Record<string, number>>;
	};
	readonly attachments?: Readonly<Record<string, string>>;
}

/** A call of a model as the loop records it. */
export interface RoutedCall {
	/** Absent where no provider answered. */
	readonly response?: ModelResponse;
	readonly error?: ResultError;
	/** One for each provider that was called. */
	readonly calls: readonly ModelCall[];
	/** Calls after the first. */
	readonly retries: number;
}
