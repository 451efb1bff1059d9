// The one policy list: the actions of an interceptor at each stage of a run. Middleware and plugins are two forms of it.
// Every stage is called in list order; `after` and `onError` in reverse.
import type { Message, StreamEvent, TokenUsage } from "@holdfast/upp";
import type { Entry, Fact } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { AgentState, GenerateResult } from "../state/index.ts";
import type { ChangedContext, PolicyRun, RunContext } from "./policy-run.ts";

/** A value or nothing, or a promise of either. A function without a `return` returns nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: `undefined` alone would refuse functions without a `return`.
export type Perhaps<Value> = Value | void | Promise<Value | void>;

/** A tool call before it reaches its tool. */
export interface InterceptedCall {
	readonly toolCallId: string;
	/** The tool to run. */
	readonly toolName: string;
	/** The arguments, after the interceptors before this one. */
	readonly input: unknown;
}

/** The decision about a call; undefined lets it run unchanged. */
export type ToolCallDecision =
	| { readonly action: "allow" }
	| { readonly action: "modify"; readonly input: unknown }
	| { readonly action: "reject-and-continue"; readonly message: string }
	| { readonly action: "synthesize"; readonly output: unknown }
	| { readonly action: "error"; readonly error: unknown };

/** A result before it is recorded in the journal. */
export interface InterceptedResult extends InterceptedCall {
	/** How the call ended. */
	readonly status: "done" | "error" | "cancelled";
	/** The output that the model sees. */
	readonly output: unknown;
	/** The error, if the status is not `done`. */
	readonly error?: unknown;
}

/** The replacement of a result. */
export type ReplacedResult = Pick<InterceptedResult, "status" | "output" | "error">;

/** A model call before it is made. */
export interface InterceptedModelCall {
	/** The number of the step within the run. */
	readonly step: number;
	/** The purpose of the call: `act`, `reason`, `plan` or the strategy's own tag. */
	readonly tag: string;
	/** The model to call. */
	readonly modelId: string;
	/** Aborted when the run is stopped. */
	readonly signal: AbortSignal;
}

/** The answer to a model call. */
export interface ModelAnswer {
	/** The answer. */
	readonly message: Message;
	/** Tokens of the call. */
	readonly usage: TokenUsage;
	/** Why the model stopped. */
	readonly stopReason: string;
	/** The parsed answer, if a structure was requested. */
	readonly data?: unknown;
}

/** A piece of output that precedes the fact it belongs to. */
export type Delta =
	| { readonly type: "model"; readonly step: number; readonly tag: string; readonly event: StreamEvent }
	| {
			readonly type: "tool_delta";
			readonly step: number;
			readonly toolCallId: string;
			readonly delta: string;
	  }
	/** An event of a tool's sub-agent. */
	| { readonly type: "nested"; readonly step: number; readonly toolCallId: string; readonly event: unknown };

/** The source of deltas: a model's answer, or a tool call. */
export type DeltaSource = { readonly model: true } | { readonly toolCallId: string };

/** Inspects deltas. It may hold text back to see what follows, and release it later. */
export interface DeltaStage {
	/** Returns the deltas to release now, from this one and those held so far. */
	push(delta: Delta): MaybePromise<readonly Delta[]>;
	/** Returns the held deltas to release, because their source has ended. Others are never emitted. */
	flush(source: DeltaSource): MaybePromise<readonly Delta[]>;
}

/** Data to record with a fact, in the same append. Strategies do not see it. */
export interface AuditNote {
	/** Identifies the kind of note. */
	readonly topic: string;
	/** Plain data. */
	readonly value: unknown;
}

/** An interceptor's replacement of a fact; undefined leaves it unchanged. */
export interface Admission {
	/** The fact to commit in its place: the same kind, with different content. */
	readonly fact?: Fact;
	/** Notes committed with it atomically. */
	readonly notes?: readonly AuditNote[];
}

/** The stages of one run. All are optional. If one throws, the run fails with that error. */
export interface Stages {
	/** Called before the run. May return a changed context for later stages. Not called again when a run is resumed. */
	before?(context: RunContext): Perhaps<ChangedContext>;
	/** Called after a completed run. Its return value becomes the caller's result. */
	after?(context: RunContext, result: GenerateResult): GenerateResult | Promise<GenerateResult>;
	/** Called after a failed run. A result returned here becomes the caller's result. */
	onError?(context: RunContext, error: Error): Perhaps<GenerateResult>;
	/** Called before the first step of a run that was not resumed. */
	turnBefore?(): MaybePromise<void>;
	/** Called before the start of a step is emitted. */
	stepBefore?(step: number): MaybePromise<void>;
	/** Called after a step, before its end is emitted. */
	stepAfter?(step: number): MaybePromise<void>;
	/** Called after each step with that step's state. `true` ends the run with its results so far. */
	stop?(state: AgentState): MaybePromise<boolean>;
	/**
	 * Replaces the messages that the model sees in this call only. `request.countTokens` returns the tokens of the request
	 * with other messages, as the provider counts them: its count of the last request, with the difference estimated.
	 */
	assemble?(
		messages: readonly Message[],
		request: { countTokens(messages: readonly Message[]): number },
	): MaybePromise<readonly Message[]>;
	/**
	 * Wraps a model call, which `next` makes: call it at most once. If you don't call it, the returned answer is used.
	 */
	modelCall?(call: InterceptedModelCall, next: () => Promise<ModelAnswer>): Promise<ModelAnswer>;
	/** Called before a call is checked. The first decision other than `allow` and `modify` counts. */
	toolCall?(call: InterceptedCall): MaybePromise<ToolCallDecision | undefined>;
	/** Called before a result is recorded. If it replaces the result, the original is not kept anywhere. */
	toolResult?(result: InterceptedResult): MaybePromise<ReplacedResult>;
	/**
	 * Called before every append, for each of its facts in order. It may replace the fact, add notes, or refuse it by
	 * throwing; then nothing of the append is committed. The resulting fact is committed, folded and emitted.
	 */
	admit?(fact: Fact): Perhaps<Admission>;
	/** The kinds of facts that `admit` is called for; others bypass it. Default: all. */
	readonly admits?: readonly Fact["kind"][];
	/**
	 * The effect of this `admit` on deltas: a separate stage, or `as-is` if it changes no text. Default: facts are
	 * emitted, deltas are not.
	 */
	readonly deltas?: DeltaStage | "as-is";
	/** Called for each fact once it is committed, in order, before its event is emitted. Errors are ignored. */
	committed?(entry: Entry): void;
	/** Whether the run continues for one more step although the strategy would end it. Called once each time. */
	continues?(): boolean;
	/**
	 * `never`: no stage waits for its own session, so no check is needed. Default: a stage that waits for something that
	 * can only happen after its own run gets `session_busy`.
	 */
	readonly waits?: "never";
}

/** An entry of the policy list. */
export interface Interceptor {
	/** The name, for people and error messages. */
	readonly name: string;
	/** Returns the stages for one run, with their own state; undefined for none. Must not throw. */
	begin(run: PolicyRun): Stages | undefined;
	/**
	 * Called before storing an input that waits for a run to accept it, with the fact that the input will become. Such
	 * an input is a queued or steered message, an edit of the history, work for a sub-agent, or a notice. It can also
	 * be an answer to a call while another worker has the run (a `decision` or `tool.settled`). The return value is
	 * stored, and passed to `admit` when a run commits it; undefined stores the fact unchanged. It may replace the same
	 * parts as `admit`, and must return synchronously. An error refuses the input. `"as-is"` declares that `admit`
	 * changes no input. In sessions, an `admit` that receives inputs needs one of the two. Otherwise each input
	 * is refused with `policy_invalid`, because a waiting input would be stored unmasked. The same applies to an answer
	 * that would have to wait, if `admit` receives decisions or results.
	 */
	// biome-ignore lint/suspicious/noConfusingVoidType: `undefined` alone would refuse functions without a `return`.
	admitWaiting?: "as-is" | ((fact: Fact) => Fact | void);
}
