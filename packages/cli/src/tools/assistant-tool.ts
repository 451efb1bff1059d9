/**
 * The shape of the built-in assistant's tools, and the error they return to the model. Tools that only read are
 * "pure". Tools that change files are "idempotent", because they detect what an earlier attempt did. Both are safe to
 * repeat after a crash, unlike a shell command.
 */

/** The part of the engine's tool context that these tools use. */
export interface AssistantToolContext {
	/** Aborted when the run is stopped. */
	readonly signal?: AbortSignal;
	/**
	 * Shows a piece of the output while the call runs.
	 * @throws HoldfastError if the call or the session has shown too much.
	 */
	emit?(delta: string): unknown;
	/** The same for every attempt at the call. */
	readonly idempotencyKey?: string;
	/** Set if the call was approved. */
	readonly approval?: { readonly basis?: unknown };
}

/** A tool for the engine: JSON Schema parameters and a function that returns text for the model. */
export interface AssistantTool {
	readonly name: string;
	readonly description: string;
	readonly parameters: {
		readonly type: "object";
		readonly properties: Record<string, Record<string, unknown>>;
		readonly required: string[];
		readonly additionalProperties: false;
	};
	readonly retryPolicy: "pure" | "idempotent" | "manual-recovery";
	/** Characters of a result that reach the model; the journal contains the whole result. */
	readonly maxModelCharacters: number;
	/** Whether an approval may change the arguments. Default: it may not. */
	readonly editableApproval?: boolean;
	/** Whether a call requires approval. Absent: it does not. */
	needsApproval?(params: Record<string, unknown>): Promise<boolean>;
	run(params: Record<string, unknown>, context?: AssistantToolContext): Promise<string>;
}

/** A request that a tool rejects; the message explains to the model what to do. */
export class ToolRefusal extends Error {
	readonly code: string;

	constructor(code: string, message: string) {
		super(message);
		this.name = "ToolRefusal";
		this.code = code;
	}
}

/** Returns the text argument `name`, or undefined if it is missing. */
export function textArgument(params: Record<string, unknown>, name: string): string | undefined {
	const value = params[name];
	if (value === undefined || value === null) return undefined;
	if (typeof value !== "string") throw new ToolRefusal("tool_input_invalid", `"${name}" must be a string.`);
	return value;
}

/** Returns the integer argument `name` within its bounds, or the default. */
export function numberArgument(
	params: Record<string, unknown>,
	name: string,
	bounds: { readonly default: number; readonly minimum: number; readonly maximum: number },
): number {
	const value = params[name];
	if (value === undefined || value === null) return bounds.default;
	if (typeof value !== "number" || !Number.isInteger(value) || value < bounds.minimum)
		throw new ToolRefusal(
			"tool_input_invalid",
			`"${name}" must be a whole number of at least ${bounds.minimum}.`,
		);
	return Math.min(value, bounds.maximum);
}

/** Formats a number with thousands separators: 5012 → "5,012". */
export function grouped(count: number): string {
	return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Formats a count with its noun: "1 file", "2 files". */
export function counted(count: number, noun: string): string {
	return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}
