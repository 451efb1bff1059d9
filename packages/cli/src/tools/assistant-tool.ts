/**
 * The shape of the built-in assistant's tools, and the error they give to the model.
 * Each may be run again after a crash: those that read freely ("pure"), those that change files because they find out what
 * an earlier attempt did ("idempotent").
 */

/** The engine's tool context, as far as these tools use it. */
export interface AssistantToolContext {
	/** Aborted when the run is stopped. */
	readonly signal?: AbortSignal;
	/** The same for every attempt at the call. */
	readonly idempotencyKey?: string;
	/** Set if the call was approved. */
	readonly approval?: { readonly basis?: unknown };
}

/** A tool the engine can run: JSON Schema parameters and a function that answers with text for the model. */
export interface AssistantTool {
	readonly name: string;
	readonly description: string;
	readonly parameters: {
		readonly type: "object";
		readonly properties: Record<string, Record<string, unknown>>;
		readonly required: string[];
		readonly additionalProperties: false;
	};
	readonly retryPolicy: "pure" | "idempotent";
	/** Characters of an answer that reach the model; the whole answer stays in the journal. */
	readonly maxModelCharacters: number;
	/** Whether a call needs approval. Absent: it does not. */
	needsApproval?(params: Record<string, unknown>): Promise<boolean>;
	run(params: Record<string, unknown>, context?: AssistantToolContext): Promise<string>;
}

/** A request that a tool cannot or will not carry out; the message tells the model what to do. */
export class ToolRefusal extends Error {
	readonly code: string;

	constructor(code: string, message: string) {
		super(message);
		this.name = "ToolRefusal";
		this.code = code;
	}
}

/** The text argument `name`, or undefined when it was not given. */
export function textArgument(params: Record<string, unknown>, name: string): string | undefined {
	const value = params[name];
	if (value === undefined || value === null) return undefined;
	if (typeof value !== "string") throw new ToolRefusal("tool_input_invalid", `"${name}" must be a string.`);
	return value;
}

/** The whole number argument `name` within its bounds, or the given default. */
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

/** A number with thousands separators: 5012 → "5,012". */
export function grouped(count: number): string {
	return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** "1 file", "2 files". */
export function counted(count: number, noun: string): string {
	return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}
