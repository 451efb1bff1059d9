// The decisions of a run that its journal stores in addition to the engine's facts: the answers to its questions, and the
// results of its tool calls. Policy runs before these facts are committed; results, events and replay are projections of
// them.
import type { MemoryChange, ModelCall } from "./agent-result.ts";
import type { ResultError, RunnerStep } from "./plan-step.ts";

/** The topics of the decisions of a run. */
export const topics = {
	/** The start of a run: a `BeginAnswer`. */
	begin: "runner.begin",
	/** The next step, asked of the planner: a `PlanAnswer`. */
	plan: "runner.plan",
	/** The reflection on a result: a `ReflectAnswer`. */
	reflect: "runner.reflect",
	/** Notes of policy that share an append with what they are about: an `AuditRecord` each. */
	audit: "runner.audit",
} as const;

/** The tool that writes what a reflection decided to memory, under the name no tool of an agent has. */
export const memoryTool = "runner.remember";

/** The tool that carries out steps by an injected executor. */
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
	/** Set where the run cannot begin. */
	readonly error?: ResultError;
}

/** The policy's verdict on a step. */
export interface StepVerdict {
	/** `refused`: not by policy, and at no cost to the budget. */
	readonly action: "blocked" | "modified" | "ask" | "refused";
	readonly rule: string;
	readonly code: string;
	readonly message: string;
}

/** A planner's decision, and its cost. */
export interface PlanAnswer {
	/** Absent where planning failed. Policy may have changed its input. */
	readonly step?: RunnerStep;
	readonly error?: ResultError;
	/** The calls of models it took. */
	readonly calls: readonly ModelCall[];
	readonly templates: readonly { readonly id: string; readonly version: string }[];
	readonly retries?: number;
	readonly lastRetryError?: string;
	/** Set where policy stepped in, or where there is no such tool. */
	readonly verdict?: StepVerdict;
	/** Milliseconds that planning took. */
	readonly duration: number;
	readonly warnings?: readonly string[];
}

/** A write that a reflection decided on. */
export interface PlannedWrite {
	/** The stream. */
	readonly key: string;
	/** The same for every attempt at it. */
	readonly id: string;
	readonly entry: unknown;
}

/** The reflection on a result. */
export interface ReflectAnswer {
	readonly goalMet?: true;
	/** For the scratchpad. */
	readonly note?: string;
	/** Written before the next step is planned. Policy may have changed or dropped some. */
	readonly writes: readonly PlannedWrite[];
	/** The memory is the run's own: what is written is in it as soon as this is on record, and no call is needed. */
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
	/** Changes that the tool made by the memory it was given. */
	readonly changes: readonly MemoryChange[];
	readonly attachments?: Readonly<Record<string, string>>;
	/** The run ends with the error. */
	readonly fatal?: true;
}

/** The memory changes that a reflection writes. */
export function changesOf(writes: readonly PlannedWrite[]): readonly MemoryChange[] {
	return writes.map(({ key, entry }) => ({ store: "memory", operation: "append", key, value: entry }));
}
