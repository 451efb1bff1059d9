// A planner's decision, and its outcome.

/** The next step of a run. */
export interface RunnerStep {
	/**
	 * `tool` runs a tool, `message` adds to the transcript, `finish` ends the run, `internal` adds to the scratchpad.
	 */
	readonly type: "tool" | "message" | "finish" | "internal";
	/** The tool to run, for a step of the type `tool`. */
	readonly toolId?: string;
	/** The input of the tool; for a step of the type `finish`, the result. */
	readonly input?: unknown;
	/** The text of a step of the type `message` or `internal`; for `finish`, the result if there is no `input`. */
	readonly message?: string;
	/** The reason for the step; stored only with `storeReasoning`. */
	readonly reason?: string;
}

/** An error as data. */
export interface ResultError {
	/** A description of the problem. */
	readonly message: string;
	/** Identifies the problem. */
	readonly code?: string;
	/** Plain data. */
	readonly info?: unknown;
}

/** One planned step and its outcome. `input`, `output` and `error` are redacted in their displayed form. */
export interface ActionResult {
	/** The type of the step. */
	readonly type: RunnerStep["type"];
	/** The tool of the step. */
	readonly toolId?: string;
	/** The input of the tool. */
	readonly input?: unknown;
	/** The value that the tool returned, or the message. */
	readonly output?: unknown;
	/** Whether the step succeeded. */
	readonly ok: boolean;
	/** Why it failed. */
	readonly error?: ResultError;
	/** Milliseconds, including retries; 0 if nothing ran. */
	readonly duration: number;
	/** How often the tool was called; absent if it was not. */
	readonly attempts?: number;
	/** Metadata of the tool's output. */
	readonly meta?: Readonly<Record<string, unknown>>;
}
