// A planner's decision, and its outcome.

/** The next step of a run. */
export interface RunnerStep {
	readonly type: "tool" | "message" | "finish" | "internal";
	/** The tool to run, for a step of the type `tool`. */
	readonly toolId?: string;
	/** The input of the tool; for a step of the type `finish`, the result. */
	readonly input?: unknown;
	readonly message?: string;
	/** The reason for the step; stored only with `storeReasoning`. */
	readonly reason?: string;
}

/** An error as data. */
export interface ResultError {
	readonly message: string;
	readonly code?: string;
	/** Plain data. */
	readonly info?: unknown;
}

/** One planned step and its outcome. `input`, `output` and `error` are redacted in their displayed form. */
export interface ActionResult {
	readonly type: RunnerStep["type"];
	readonly toolId?: string;
	readonly input?: unknown;
	readonly output?: unknown;
	readonly ok: boolean;
	readonly error?: ResultError;
	/** Milliseconds, including retries; 0 if nothing ran. */
	readonly duration: number;
	/** How often the tool was called; absent if it was not. */
	readonly attempts?: number;
	readonly meta?: Readonly<Record<string, unknown>>;
}
