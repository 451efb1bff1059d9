// The shapes of tools: what a caller may hand in (AnyTool), what the engine drives (EngineTool),
// what a running tool is given (ToolContext) and what comes out of it (ToolOutcome).

import type { JSONSchema, ProviderMetadata, ProviderTool } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { Issue } from "../schema/index.ts";

/**
 * What may be done with a call whose process died while it ran.
 *
 * - `"pure"`: it has no effects; it is run again freely.
 * - `"idempotent"`: it is run again with the same `idempotencyKey`; the receiver deduplicates.
 * - `"manual-recovery"` (the default): it is never run again by us; its outcome is reported as unknown, unless
 *   the tool's `reconcile` finds out what became of it.
 */
export type RetryPolicy = "pure" | "idempotent" | "manual-recovery";

/** The values that a streaming tool yields: any number of deltas, then one `complete`. */
export type ToolExecutionEvent =
	| { readonly type: "delta"; readonly delta: string }
	| { readonly type: "complete"; readonly output: unknown; readonly details?: unknown };

/** An approval of a call. */
export interface Approval {
	readonly reason?: string;
	/** The basis of the decision, such as the version that was reviewed. */
	readonly basis?: unknown;
	/** The approver, if known. */
	readonly by?: Caller;
	/** The approver's replacement for the input that was shown; the tool receives it. */
	readonly input?: unknown;
}

/**
 * The context of a tool call: the second argument of `run(params, context)`, the third of `execute(id, params, context)`.
 */
export interface ToolContext {
	/** The id the model gave this call; the same as in every event about it. */
	readonly toolCallId: string;
	readonly toolName: string;
	/** Aborted when the run is cancelled; hand it on to `fetch` and the like. */
	readonly signal: AbortSignal;
	/** 1 at first, 2 when the call was re-entered after a crash, and so on. */
	readonly attempt: number;
	/** The same for every attempt at this call, across restarts; different for every other call. */
	readonly idempotencyKey: string;
	readonly retryPolicy: RetryPolicy;
	/** Set if the call was approved (`needsApproval`); the same for every attempt, across restarts. */
	readonly approval?: Approval;
	/** The step of the current call of the agent, counted from 1. */
	readonly step: number;
	readonly agentId: string;
	readonly stateId: string;
	/** The key of the durable session, when there is one. */
	readonly sessionKey?: string;
	/** The requester of the run, if known: the result of a server's `authenticate`. The same after a restart. */
	readonly caller?: Caller;
	readonly runId: string;
	/** The model of the calling agent, for sub-agents that have none. */
	// biome-ignore lint/suspicious/noExplicitAny: handed to agent({ model }) as it is, whatever kind of model it is
	readonly parentModel?: any;
	// biome-ignore lint/suspicious/noExplicitAny: handed to agent({ config }) as it is
	readonly parentConfig?: any;
	/** The context of the tool call in which the calling agent itself runs, when it is a sub-agent. */
	readonly parentContext?: ToolContext;
	/** Emits a piece of output while the tool still runs. It is not part of the result. */
	emit(delta: string): void;
	/** Emits what a sub-agent started by this tool is doing. */
	onSubagentEvent(event: unknown): void;
	/** The conversation up to this call; read lazily. */
	readonly messages: readonly unknown[];
}

/** The context of functions that decide whether a call may run. */
export interface ApprovalContext {
	readonly toolCallId: string;
	/** The key of the durable session, when there is one. */
	readonly sessionKey?: string;
	/** The requester of the run, if known. */
	readonly caller?: Caller;
}

/** The finding of `reconcile`: undefined if it cannot know, else the outcome of the call. */
export type Reconciliation =
	| undefined
	| { readonly result: unknown }
	| { readonly error: unknown }
	| { readonly retry: true };

/** The call whose outcome `reconcile` is asked about. */
export interface UnknownCall {
	readonly idempotencyKey: string;
	readonly input: unknown;
}

/** Arguments after validation: the value the tool gets (defaults and coercions applied), or why it is not started. */
export type ValidatedInput =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly message: string; readonly issues: readonly Issue[] };

/** The ways a tool's function may be written: `run(params, context)`, `execute(id, params, context)`, the AI SDK's `execute`, or none. */
export type ToolForm = "run" | "execute" | "ai-sdk" | "remote";

/**
 * A tool in the engine's form, for every form in which it was declared.
 *
 * Made by `normaliseTool`; immutable; one per tool object.
 */
export interface EngineTool {
	readonly name: string;
	readonly description: string;
	readonly label?: string;
	/** The schema that the model sees. */
	readonly parameters: JSONSchema;
	/** Passed to the provider with the tool, keyed by the provider's name. */
	readonly metadata?: ProviderMetadata;
	/** Whether the provider makes the model keep to `parameters`. */
	readonly strict?: boolean;
	readonly inputExamples?: readonly { readonly input: Record<string, unknown> }[];
	/** Set for a tool that its provider defines. One that its provider also runs is never called here. */
	readonly provider?: ProviderTool;
	/** The caller's own object: hooks get this one. */
	readonly source: object;
	/** Remote tools are carried out by someone else, who settles the call; they have no function here. */
	readonly kind: "local" | "remote";
	/** How its function is called and what its result means. */
	readonly form: ToolForm;
	readonly sequential: boolean;
	readonly dependsOn: readonly string[];
	readonly retryPolicy: RetryPolicy;
	/** How much of a result the model is shown; the journal keeps all of it. Infinity by default. */
	readonly maxModelCharacters: number;
	/** Lets the model know how to get at the rest of a result that was cut. */
	readonly readOn?: (result: unknown) => string | undefined;
	readonly reconcile?: (call: UnknownCall) => Reconciliation | Promise<Reconciliation>;
	/**
	 * Whether the call may be run: `true` runs it, `false` refuses it, and any other answer asks for an approval. Absent when it
	 * always may.
	 */
	readonly approval?: (params: unknown, context: ApprovalContext) => unknown;
	/** Whether the call requires approval. If there is no way to ask, it does not run. */
	readonly needsApproval?: (params: unknown, context: ApprovalContext) => boolean | Promise<boolean>;
	/** Whether the approver of a call may change its input. */
	readonly editableApproval: boolean;
	/** The time limit of a call in milliseconds: for the function, or for the outside answer of a remote tool. */
	readonly timeoutMs?: number;
	/** Converts an output for the model, if an AI SDK tool defines it; `runTool` calls it. */
	readonly toModelOutput?: (call: { toolCallId: string; input: unknown; output: unknown }) => unknown;
	/** Checks arguments; synchronous for JSON Schema. */
	validate(input: unknown): ValidatedInput | Promise<ValidatedInput>;
	/** Starts the tool; `runTool` carries what it returns to an outcome. Throws `remote_tool` for a remote one. */
	start(input: unknown, context: ToolContext): unknown;
}

/** How a tool call ended. `output` is a string or plain JSON and goes to the model; `details` only to watchers. */
export interface ToolOutcome {
	readonly output: unknown;
	readonly details?: unknown;
	readonly isError: boolean;
	/** The error that the tool threw, if it failed. */
	readonly error?: unknown;
	/** Set where it did not finish within its `timeoutMs`. */
	readonly expired?: true;
	/** Set if the tool reports that the call was denied; `output` is the reason. */
	readonly denied?: true;
	/** Passed to the provider with the whole output. */
	readonly metadata?: ProviderMetadata;
}

/** Whether a call with these arguments needs approval. */
export type NeedsApproval =
	| boolean
	// biome-ignore lint/suspicious/noExplicitAny: the arguments' type is the tool author's; the context is an ApprovalContext
	| ((params: any, context?: any) => boolean | PromiseLike<boolean>)
	| undefined;

/** Options of every kind of tool besides its function. */
export interface ToolOptions {
	/** Its calls finish before any other tool of the round starts. Default false. */
	readonly sequential?: boolean;
	/** Names of tools whose calls of the same round must have settled first. Default none. */
	readonly dependsOn?: readonly string[];
	/**
	 * How a call may be retried after a crash inside the tool. Default "manual-recovery": never run again automatically.
	 */
	readonly retryPolicy?: RetryPolicy;
	/**
	 * How many characters of a result the model is shown, the rest being cut with a note. Default: all of it.
	 * A limit keeps the context small; the model may have to call again to see more.
	 */
	readonly maxModelCharacters?: number;
	/**
	 * Whether a call requires approval: in a session the run waits for the answer without a time limit; in a plain call,
	 * which has no way to ask, the call does not run. Default false.
	 */
	readonly needsApproval?: NeedsApproval;
	/**
	 * Whether the approver of a call may change its input: `{ approved: true, input }`. The change is recorded with its
	 * author, and validated before the tool runs. Requires `needsApproval` or `approval`. Default false.
	 */
	readonly editableApproval?: boolean;
	/**
	 * Milliseconds that a call may take; then it has expired. A function gets its signal aborted, and what it still returns is
	 * ignored: it may have had its effect. A function that does not return control is not interrupted. Default: no limit; for a
	 * remote tool the agent's `remoteToolTimeoutMs`.
	 */
	readonly timeoutMs?: number;
	/** One sentence for the model on how to get at the rest of a result that was cut. */
	// biome-ignore lint/suspicious/noExplicitAny: the result's type is the tool author's
	readonly readOn?: (result: any) => string | undefined;
	/** Finds out what became of a call whose outcome is unknown after a crash. */
	// biome-ignore lint/suspicious/noExplicitAny: the input's type is the tool author's
	readonly reconcile?: (call: { idempotencyKey: string; input: any }) => unknown;
}

/**
 * Any tool that can be given to an agent: with `run(params, context)`, with `execute(id, params, context)`, the AI SDK's
 * (`inputSchema`, `execute(input, options)`) or the result of `tool({...})`.
 *
 * One loose type, so that type-checking a list of tools is cheap; `normaliseTool` reports problems. An agent is not a
 * tool: declare a Tool that calls it, with a schema of its own.
 */
export interface AnyTool extends ToolOptions {
	readonly name?: string;
	readonly label?: string;
	readonly description?: unknown;
	/** JSON Schema or a Standard Schema. */
	readonly parameters?: unknown;
	/** The same, under the AI SDK's name; its `jsonSchema()` objects too. */
	readonly inputSchema?: unknown;
	// biome-ignore lint/suspicious/noExplicitAny: parameters are typed where the tool is declared
	run?(params: any, context: any): unknown;
	// biome-ignore lint/suspicious/noExplicitAny: see run
	readonly execute?: ((...parameters: any[]) => unknown) | string | null | undefined;
	// biome-ignore lint/suspicious/noExplicitAny: see run
	approval?(params: any, context?: any): boolean | Promise<boolean>;
	readonly generate?: never;
	readonly stream?: never;
}

/** Tools in a list, or in a record from name to tool. */
export type ToolSet = readonly AnyTool[] | Readonly<Record<string, AnyTool>>;
