// The shapes of tools: what a caller may pass in (AnyTool), what the engine drives (EngineTool), what a running tool
// receives (ToolContext) and what it results in (ToolOutcome).

import type { JSONSchema, ModelTool, ProviderMetadata, ProviderTool } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { Issue } from "../schema/index.ts";

/**
 * How to treat a call whose process died while it ran.
 *
 * - `"pure"`: it has no side effects; it may be run again freely.
 * - `"idempotent"`: it is run again with the same `idempotencyKey`; the receiver deduplicates.
 * - `"manual-recovery"` (the default): Holdfast never runs it again; its outcome is reported as unknown, unless
 *   the tool's `reconcile` determines it.
 */
export type RetryPolicy = "pure" | "idempotent" | "manual-recovery";

/** The values that a streaming tool yields: any number of deltas, then one `complete`. */
export type ToolExecutionEvent =
	| { readonly type: "delta"; readonly delta: string }
	| { readonly type: "complete"; readonly output: unknown; readonly details?: unknown };

/** An approval of a call. */
export interface Approval {
	/** Why the approver decided so, if a reason was given. */
	readonly reason?: string;
	/** The basis of the decision, such as the version that was reviewed. */
	readonly basis?: unknown;
	/** The approver, if known. */
	readonly by?: Caller;
	/** The approver's replacement for the original input; the tool receives it. */
	readonly input?: unknown;
}

/**
 * The context of a tool call: the second argument of `run(params, context)`, the third of `execute(id, params, context)`.
 */
export interface ToolContext {
	/** The id the model gave this call; the same in every event about it. */
	readonly toolCallId: string;
	/** The name of the tool. */
	readonly toolName: string;
	/** Aborted when the run is cancelled. Pass it on to `fetch` and similar functions. */
	readonly signal: AbortSignal;
	/** 1 for the first attempt, 2 when the call is run again after a crash, and so on. */
	readonly attempt: number;
	/** Identical for every attempt at this call, across restarts; different for every other call. */
	readonly idempotencyKey: string;
	/** What happens if the process dies during the call. */
	readonly retryPolicy: RetryPolicy;
	/** Set if the call was approved (`needsApproval`). Identical for every attempt, across restarts. */
	readonly approval?: Approval;
	/** The step of the agent's current call, counted from 1. */
	readonly step: number;
	/** The id of the agent that makes the call. */
	readonly agentId: string;
	/** The id of the state before the call. */
	readonly stateId: string;
	/** The key of the durable session, if any. */
	readonly sessionKey?: string;
	/** The requester of the run, if known: the result of a server's `authenticate`. Unchanged after a restart. */
	readonly caller?: Caller;
	readonly runId: string;
	/** The model of the calling agent, for sub-agents without their own. */
	// biome-ignore lint/suspicious/noExplicitAny: handed to agent({ model }) as it is, whatever kind of model it is
	readonly parentModel?: any;
	/** The provider configuration (`config`) of the calling agent, for sub-agents without their own model. */
	// biome-ignore lint/suspicious/noExplicitAny: handed to agent({ config }) as it is
	readonly parentConfig?: any;
	/** The context of the tool call in which the calling agent itself runs, if it is a sub-agent. */
	readonly parentContext?: ToolContext;
	/** Emits a piece of output while the tool is running. It is not part of the result. */
	emit(delta: string): void;
	/** Emits an event of a sub-agent that this tool started. */
	onSubagentEvent(event: unknown): void;
	/** The conversation up to this call; read lazily. */
	readonly messages: readonly unknown[];
	/** The tools that this tool can load. Set if other tools of the agent name it as their `loadedBy`. */
	readonly loadable?: LoadableTools | undefined;
}

/** Tools that the model is not sent until they are loaded. */
export interface LoadableTools {
	/** All of them, in the agent's order, as the model would see them. */
	readonly tools: readonly ModelTool[];
	/**
	 * Appends tools, in this order, to those sent to the model, from the next model call until the end of the session.
	 * They are recorded with the result of the call; if the call fails, they are not added.
	 * @throws HoldfastError `invalid_argument` for a name that is not in `tools`.
	 */
	load(names: readonly string[]): void;
}

/** The context of functions that decide whether a call may run. */
export interface ApprovalContext {
	readonly toolCallId: string;
	/** The key of the durable session, if any. */
	readonly sessionKey?: string;
	/** The requester of the run, if known. */
	readonly caller?: Caller;
}

/** The result of `reconcile`: the outcome of the call, or undefined if it cannot be determined. */
export type Reconciliation =
	| undefined
	| { readonly result: unknown }
	| { readonly error: unknown }
	| { readonly retry: true };

/** The call whose outcome `reconcile` determines. */
export interface UnknownCall {
	readonly idempotencyKey: string;
	readonly input: unknown;
}

/**
 * Arguments after validation: the value passed to the tool (with defaults and coercions applied), or the reason it is not
 * started.
 */
export type ValidatedInput =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly message: string; readonly issues: readonly Issue[] };

/**
 * The forms of a tool's function: `run(params, context)`, `execute(id, params, context)`, the AI SDK's `execute`, or
 * none.
 */
export type ToolForm = "run" | "execute" | "ai-sdk" | "remote";

/**
 * A tool in the engine's form, regardless of how it was declared.
 *
 * Created by `normaliseTool`; immutable; one per tool object.
 */
export interface EngineTool {
	readonly name: string;
	readonly description: string;
	readonly label?: string;
	/** The schema that the model sees. */
	readonly parameters: JSONSchema;
	/** Passed to the provider with the tool, keyed by the provider's name. */
	readonly metadata?: ProviderMetadata;
	/** Whether the provider makes the model adhere to `parameters`. */
	readonly strict?: boolean;
	readonly inputExamples?: readonly { readonly input: Record<string, unknown> }[];
	/** Set for a tool that its provider defines. If the provider also runs it, it is never called here. */
	readonly provider?: ProviderTool;
	/** The caller's own object, which is passed to hooks. */
	readonly source: object;
	/** A remote tool runs elsewhere, and its call is settled from there; it has no function here. */
	readonly kind: "local" | "remote";
	/** How its function is called and what its result means. */
	readonly form: ToolForm;
	readonly sequential: boolean;
	readonly dependsOn: readonly string[];
	/** The tool that makes the model see this one. Absent if it always does. */
	readonly loadedBy?: string;
	readonly retryPolicy: RetryPolicy;
	/** How many characters of a result the model sees; the journal keeps all of it. Undefined: the default limit. */
	readonly maxModelCharacters: number | undefined;
	/** Tells the model how to get the rest of a result that was cut. */
	readonly readOn?: (result: unknown) => string | undefined;
	readonly reconcile?: (call: UnknownCall) => Reconciliation | Promise<Reconciliation>;
	/**
	 * Whether the call may run: `true` runs it, `false` refuses it, and any other answer requires approval. Absent if it
	 * may always run.
	 */
	readonly approval?: (params: unknown, context: ApprovalContext) => unknown;
	/** Whether the call requires approval. Without a way to ask, it does not run. */
	readonly needsApproval?: (params: unknown, context: ApprovalContext) => boolean | Promise<boolean>;
	/** Whether the approver of a call may change its input. */
	readonly editableApproval: boolean;
	/** The time limit of a call in milliseconds: for the function, or for the result of a remote tool. */
	readonly timeoutMs?: number;
	/** Converts an output for the model, if an AI SDK tool defines it. `runTool` calls it. */
	readonly toModelOutput?: (call: { toolCallId: string; input: unknown; output: unknown }) => unknown;
	/** Validates arguments; synchronous for JSON Schema. */
	validate(input: unknown): ValidatedInput | Promise<ValidatedInput>;
	/** Starts the tool; `runTool` turns its return value into an outcome. Throws `remote_tool` for a remote one. */
	start(input: unknown, context: ToolContext): unknown;
}

/** How a tool call ended. `output` is a string or plain JSON and goes to the model; `details` goes only to watchers. */
export interface ToolOutcome {
	readonly output: unknown;
	readonly details?: unknown;
	readonly isError: boolean;
	/** The error that the tool threw, if it failed. */
	readonly error?: unknown;
	/** Set if it did not finish within its `timeoutMs`. */
	readonly expired?: true;
	/** Set if the tool reports that the call was denied; `output` is the reason. */
	readonly denied?: true;
	/** Passed to the provider along with the output. */
	readonly metadata?: ProviderMetadata;
}

/** Whether a call with these arguments needs approval. */
export type NeedsApproval =
	| boolean
	// biome-ignore lint/suspicious/noExplicitAny: the arguments' type is the tool author's; the context is an ApprovalContext
	| ((params: any, context?: any) => boolean | PromiseLike<boolean>)
	| undefined;

/** Options of every kind of tool, in addition to its function. */
export interface ToolOptions {
	/** Its calls finish before any other tool of the round starts. Default false. */
	readonly sequential?: boolean;
	/** Names of tools whose calls in the same round must settle first. Default none. */
	readonly dependsOn?: readonly string[];
	/**
	 * The name of a tool of the agent that loads this one: the model is not sent this tool until that one has called
	 * `context.loadable.load()`. Keeps prompts with many tools small, at the price of a search. Default: always sent.
	 */
	readonly loadedBy?: string;
	/**
	 * How a call may be retried after a crash inside the tool. Default "manual-recovery": never run again automatically.
	 */
	readonly retryPolicy?: RetryPolicy;
	/**
	 * How many characters of a result the model sees; the rest is cut, with a note. A lower limit keeps the context small,
	 * but the model may have to call again to see more. Files in a result are not counted. Default: 100,000, of which the
	 * last 20,000 are the end of the result, with the warning `result_cut`. `Infinity`: all of them.
	 */
	readonly maxModelCharacters?: number;
	/**
	 * Whether a call requires approval. In a session the run waits for the answer without a time limit. A plain call has
	 * no way to ask, so the tool does not run. Default false.
	 */
	readonly needsApproval?: NeedsApproval;
	/**
	 * Whether the approver of a call may change its input: `{ approved: true, input }`. The change is recorded with its
	 * author, and validated before the tool runs. Requires `needsApproval` or `approval`. Default false.
	 */
	readonly editableApproval?: boolean;
	/**
	 * The time limit of a call in milliseconds; then it has expired. The function's signal is aborted and its later
	 * return value ignored, although it may have had its effect. A function that blocks the event loop is not
	 * interrupted. Default: no limit; for a remote tool the agent's `remoteToolTimeoutMs`.
	 */
	readonly timeoutMs?: number;
	/** Returns one sentence for the model on how to get the rest of a result that was cut. Default: none. */
	// biome-ignore lint/suspicious/noExplicitAny: the result's type is the tool author's
	readonly readOn?: (result: any) => string | undefined;
	/** Determines the outcome of a call that is unknown after a crash. Default: the model is told that it is unknown. */
	// biome-ignore lint/suspicious/noExplicitAny: the input's type is the tool author's
	readonly reconcile?: (call: { idempotencyKey: string; input: any }) => unknown;
}

/**
 * Any tool that can be given to an agent: with `run(params, context)`, with `execute(id, params, context)`, the AI SDK's
 * (`inputSchema`, `execute(input, options)`) or the result of `tool({...})`.
 *
 * One loose type, so that type-checking a list of tools is cheap; `normaliseTool` reports problems. An agent is not a
 * tool: declare a tool that calls it, with its own schema.
 */
export interface AnyTool extends ToolOptions {
	/** The name. A tool in a record takes its key as the name. */
	readonly name?: string;
	/** A short name for people. It is the description if there is none. */
	readonly label?: string;
	/** What the tool does, for the model. */
	readonly description?: unknown;
	/** JSON Schema or a Standard Schema. */
	readonly parameters?: unknown;
	/** The same under the AI SDK's name. Accepts its `jsonSchema()` objects too. */
	readonly inputSchema?: unknown;
	/** The function: receives the validated arguments and the context. A tool without a function is remote. */
	// biome-ignore lint/suspicious/noExplicitAny: parameters are typed where the tool is declared
	run?(params: any, context: any): unknown;
	/** The function in the AI SDK's form, or `(id, params, context)` of programs for other packages. */
	// biome-ignore lint/suspicious/noExplicitAny: see run
	readonly execute?: ((...parameters: any[]) => unknown) | string | null | undefined;
	/** The tool's own permission, decided in code. It also applies to calls that a person has approved. */
	// biome-ignore lint/suspicious/noExplicitAny: see run
	approval?(params: any, context?: any): boolean | Promise<boolean>;
	/** Absent: an agent is not a tool. */
	readonly generate?: never;
	/** Absent: an agent is not a tool. */
	readonly stream?: never;
}

/** Tools as a list, or as a record by name. */
export type ToolSet = readonly AnyTool[] | Readonly<Record<string, AnyTool>>;
