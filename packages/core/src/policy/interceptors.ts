// Where sessions and plugins may step in while a run goes on: before turns and steps, into what the model sees, and
// around tool calls. What they return is what is committed and told (stages assemble and admit).
import type { Message } from "@holdfast/upp";
import type { MaybePromise } from "../host/index.ts";

/** A tool call on its way to its tool. */
export interface InterceptedCall {
	readonly toolCallId: string;
	readonly toolName: string;
	readonly input: unknown;
}

/** What becomes of a call; undefined lets it run as it is. */
export type ToolCallDecision =
	| { readonly action: "allow" }
	| { readonly action: "modify"; readonly input: unknown }
	| { readonly action: "reject-and-continue"; readonly message: string }
	| { readonly action: "synthesize"; readonly output: unknown }
	| { readonly action: "error"; readonly error: unknown };

/** A result on its way to the journal. */
export interface InterceptedResult extends InterceptedCall {
	readonly status: "done" | "error" | "cancelled";
	readonly output: unknown;
}

/** What replaces a result. */
export interface ReplacedResult {
	readonly status: "done" | "error" | "cancelled";
	readonly output: unknown;
}

export interface Interceptors {
	/** Before the first step of a turn that was not resumed. One that throws fails the run. */
	turnBefore?(): MaybePromise<void>;
	/** Before a step is told. One that throws fails the run. */
	stepBefore?(step: number): MaybePromise<void>;
	/** After a step, before its end is told. One that throws fails the run. */
	stepAfter?(step: number): MaybePromise<void>;
	/** What the model sees in place of these messages, in this call only. */
	assemble?(messages: readonly Message[]): MaybePromise<readonly Message[]>;
	/** Asked before a call is checked. One that throws fails the run. */
	toolCall?(call: InterceptedCall): MaybePromise<ToolCallDecision | undefined>;
	/** Asked before a result is recorded; the raw one is then kept nowhere. One that throws fails the run. */
	toolResult?(result: InterceptedResult): MaybePromise<ReplacedResult>;
	/** Whether the turn goes on for one more step although the decider would end it. Asked once each time. */
	goesOn?(): boolean;
}
