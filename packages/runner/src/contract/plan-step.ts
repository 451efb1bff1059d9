// A planner's decision, and its outcome.

/** The next thing to do. */
export interface RunnerStep {
	readonly type: "tool" | "message" | "finish" | "internal";
	/** The tool to run, of a step of the type `tool`. */
	readonly toolId?: string;
	/** The input of the tool; for a step of the type `finish`, the result. */
	readonly input?: unknown;
	readonly message?: string;
	/** Why; kept only with `storeReasoning`. */
	readonly reason?: string;
}

/** An error as data. */
export interface ResultError {
	readonly message: string;
	readonly code?: string;
	/** Plain data. */
	readonly info?: unknown;
}

/** One planned step and what came of it. `input`, `output` and `error` are redacted where they are shown. */
export interface ActionResult {
	readonly type: RunnerStep["type"];
	readonly toolId?: string;
	readonly input?: unknown;
	readonly output?: unknown;
	readonly ok: boolean;
	readonly error?: ResultError;
	/** Milliseconds, retries included; 0 where nothing was run. */
	readonly duration: number;
	/** How often the tool was called; absent where it was not. */
	readonly attempts?: number;
	readonly meta?: Readonly<Record<string, unknown>>;
}
