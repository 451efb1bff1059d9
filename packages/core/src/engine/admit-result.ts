// Passes the result of a tool call through policy.

import { attempt, type ToolCall } from "@holdfast/upp";
import type { Mutable, ToolCallOutcome, ToolSettled } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { ReplacedResult } from "../policy/index.ts";
import type { ToolOutcome } from "../tools/index.ts";
import { HookFailed } from "./check-call.ts";
import type { Run } from "./run.ts";

/** A result after policy has admitted it. */
export interface AdmittedResult {
	readonly outcome: ToolCallOutcome;
	readonly result: unknown;
}

/** Returns the result that may be stored and emitted. Throws or rejects with `HookFailed`. */
export function admitResult(
	{ interceptors: { toolResult } }: Run,
	{ toolCallId, toolName }: ToolCall,
	input: unknown,
	outcome: ToolCallOutcome,
	output: unknown,
): MaybePromise<AdmittedResult> {
	if (toolResult === undefined) return { outcome, result: output };
	const status = outcome === "done" || outcome === "cancelled" ? outcome : "error";
	const read = (replaced: ReplacedResult): AdmittedResult => ({
		outcome: replaced.status === status ? outcome : replaced.status,
		result: replaced.output,
	});
	const failed = (error: unknown): never => {
		throw new HookFailed(error);
	};
	return attempt(() => toolResult({ toolCallId, toolName, input, status, output }), read, failed);
}

/** The parts of a result besides its value. */
export type Attached = Pick<ToolOutcome, "details" | "denied" | "metadata">;

/** Adds the attached parts of a result to its fact. */
export function attach(settled: Mutable<ToolSettled>, attached: Attached | undefined): void {
	const { details, denied, metadata } = attached ?? {};
	if (details !== undefined) settled.details = details;
	if (denied !== undefined) settled.denied = denied;
	if (metadata !== undefined) settled.metadata = metadata;
}

/** Returns how a call ended, given the outcome of its tool. */
export function outcomeOf({ isError, expired }: ToolOutcome): ToolCallOutcome {
	if (expired === true) return "expired";
	return isError ? "error" : "done";
}

/** A result before policy has admitted it, with its attached parts. */
export type CameOut = AdmittedResult & { readonly attached: Attached };

/** Returns the result of a tool. */
export function cameOut(outcome: ToolOutcome): CameOut {
	return { outcome: outcomeOf(outcome), result: outcome.output, attached: outcome };
}
