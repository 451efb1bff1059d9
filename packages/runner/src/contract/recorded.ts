// The decisions of a run that its journal stores in addition to the engine's facts: the answers to its questions, and the
// results of its tool calls. Policy runs before these facts are committed; results, events and replay are projections of
// them.
import type { MemoryChange, ModelCall } from "./agent-result.ts";
import type { ResultError, RunnerStep } from "./plan-step.ts";

/** The topics of the decisions of a run. */
export const topics = {
	/** The start of a run: a `BeginAnswer`. */
	begin: "runner.begin",
	/** The next step, from the planner: a `PlanAnswer`. */
	plan: "runner.plan",
	/** The reflection on a result: a `ReflectAnswer`. */
	reflect: "runner.reflect",
	/** Policy notes that share an append with their subject: an `AuditRecord` each. */
	audit: "runner.audit",
} as const;

/** The tool that writes a reflection's decisions to memory, under a name that no tool of an agent can have. */
export const memoryTool = "runner.remember";

/** The tool that runs steps with an injected executor. */
export const executorTool = "runner.execute";

/** The first decision of a run. */
export interface BeginAnswer {
	readonly agentId: string;
	readonly sessionId: string;
	readonly task: string;
	readonly maxSteps?: number;
	readonly contextKey?: string;
	/** Entries of the stream `contextKey`. */
	readonly memory: readonly unknown[];
	readonly seed: number;
	readonly deterministic?: true;
	/** Set if the run cannot start. */
	readonly error?: ResultError;
}

/** The policy's verdict on a step. */
export interface StepVerdict {
	/** `refused`: not by policy, and without reducing the budget. */
	readonly action: "blocked" | "modified" | "ask" | "refused";
	readonly rule: string;
	readonly code: string;
	readonly message: string;
}

/** A planner's decision, and its cost. */
export interface PlanAnswer {
	/** Absent if planning failed. Policy may have changed its input. */
	readonly step?: RunnerStep;
	readonly error?: ResultError;
	/** The model calls it made. */
	readonly calls: readonly ModelCall[];
	readonly templates: readonly { readonly id: string; readonly version: string }[];
	readonly retries?: number;
	readonly lastRetryError?: string;
	/** Set if policy intervened, or if there is no such tool. */
	readonly verdict?: StepVerdict;
	/** Milliseconds that planning took. */
	readonly duration: number;
	readonly warnings?: readonly string[];
}

/** A memory write that a reflection decided on. */
export interface PlannedWrite {
	/** The stream. */
	readonly key: string;
	/** The same for every attempt at the write. */
	readonly id: string;
	readonly entry: unknown;
}

/** The reflection on a result. */
export interface ReflectAnswer {
	readonly goalMet?: true;
	/** For the scratchpad. */
	readonly note?: string;
	/** Written before the next step is planned. Policy may have changed or dropped some writes. */
	readonly writes: readonly PlannedWrite[];
	/** Set if the memory is the run's own: it contains the writes as soon as this is recorded, without a call. */
	readonly isKept?: true;
	readonly error?: ResultError;
	readonly calls: readonly ModelCall[];
	readonly templates: readonly { readonly id: string; readonly version: string }[];
}

/** The result of a tool call. */
export interface CallAnswer {
	readonly ok: boolean;
	readonly output?: unknown;
	readonly error?: ResultError;
	readonly meta?: Readonly<Record<string, unknown>>;
	/** Milliseconds of all attempts, without the time between them. */
	readonly latency: number;
	readonly attempts: number;
	/** The errors of failed attempts. */
	readonly failures: readonly ResultError[];
	/** Changes that the tool made through the memory it received. */
	readonly changes: readonly MemoryChange[];
	readonly attachments?: Readonly<Record<string, string>>;
	/** The run ends with the error. */
	readonly fatal?: true;
}

/** The memory changes that a reflection writes. */
export function changesOf(writes: readonly PlannedWrite[]): readonly MemoryChange[] {
	return writes.map(({ key, entry }) => ({ store: "memory", operation: "append", key, value: entry }));
}
