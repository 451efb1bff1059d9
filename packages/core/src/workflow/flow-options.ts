// The options of a workflow's operations, and their validation.
import {
	checkOptions,
	type HoldfastError,
	HoldfastTypeError,
	type KnownOptions,
	optionNames,
} from "@holdfast/upp";
import type { AgentOptions } from "../agent/index.ts";
import type { OutputSchema } from "../output/index.ts";
import type { Reconciliation } from "../tools/index.ts";
import { type Duration, millisecondsOf } from "./duration.ts";
import type { StepCall, StepContext } from "./flow-call.ts";

/** Options of a step. */
export interface StepOptions<Value = unknown> {
	/**
	 * What happens if the process dies during the step. `pure`: it may run again any number of times. `idempotent`: it
	 * runs again with the same `idempotencyKey`. `manual-recovery` (the default): it does not run again, and the code
	 * receives the error `step_outcome_unknown`, unless `reconcile` determines the outcome.
	 */
	readonly retryPolicy?: "pure" | "idempotent" | "manual-recovery";
	/** How often the step is tried again after an error. An error whose `retryable` is false is final. Default 0. */
	readonly retries?: number;
	/** The delay before the first retry. It doubles with each further one. Default 1 second. */
	readonly retryDelay?: Duration;
	/** The longest delay between two attempts. Default 5 minutes. */
	readonly maxRetryDelay?: Duration;
	/**
	 * How long an attempt may take. After that, its signal is aborted and the attempt fails with `step_timeout`. Default:
	 * no limit.
	 */
	readonly timeout?: Duration;
	/**
	 * Determines the outcome of a step during which the process died: `{ result }`, `{ error }`, `{ retry: true }` to run
	 * it again, or undefined if the outcome stays unknown. Only for `manual-recovery`. Default: none.
	 */
	reconcile?(call: { readonly idempotencyKey: string }): Reconciliation | Promise<Reconciliation>;
	/**
	 * Undoes the step if the workflow fails after it. Undo functions run in reverse order, each as a step with the same
	 * options. Default: none.
	 */
	undo?(value: Value, context: StepContext): unknown;
}

/** Options of a wait for an event. */
export interface EventOptions {
	/** How long to wait. Default: no limit. */
	readonly timeout?: Duration;
}

const stepNames = optionNames<StepOptions>({
	retryPolicy: true,
	retries: true,
	retryDelay: true,
	maxRetryDelay: true,
	timeout: true,
	reconcile: true,
	undo: true,
});
export const eventNames: KnownOptions = optionNames<EventOptions>({ timeout: true });

/** Options of a model call. */
export interface ModelOptions<Schema extends OutputSchema = OutputSchema>
	extends Pick<AgentOptions, "instructions" | "params" | "outputRepairs"> {
	/** Schema of the answer. The call then returns the validated value. Default: the call returns the text. */
	readonly output?: Schema;
	/** Names the call in the journal and in errors. Default: `model`. */
	readonly name?: string;
}

export const modelNames: KnownOptions = optionNames<ModelOptions>({
	output: true,
	name: true,
	instructions: true,
	params: true,
	outputRepairs: true,
});

/** @throws HoldfastError `invalid_option` naming the option. */
export function stepCall(run: StepCall["run"], options: StepOptions): StepCall {
	checkOptions(options, stepNames, { of: "flow.step()" });
	const {
		retryPolicy = "manual-recovery",
		retries = 0,
		retryDelay = 1_000,
		maxRetryDelay = 300_000,
		timeout,
		reconcile,
		undo,
	} = options;
	if (!["pure", "idempotent", "manual-recovery"].includes(retryPolicy))
		throw invalid("`retryPolicy` must be `pure`, `idempotent` or `manual-recovery`");
	if (!(Number.isSafeInteger(retries) && retries >= 0) && retries !== Number.POSITIVE_INFINITY)
		throw invalid("`retries` must be a whole number from 0, or Infinity");
	if (retries === 0 && (options.retryDelay ?? options.maxRetryDelay) !== undefined)
		throw invalid("`retryDelay` and `maxRetryDelay` have no effect without `retries`");
	if (reconcile !== undefined && retryPolicy !== "manual-recovery")
		throw invalid("`reconcile` has no effect with this `retryPolicy`, which runs the step again");
	for (const [name, value] of Object.entries({ reconcile, undo }))
		if (value !== undefined && typeof value !== "function") throw invalid(`\`${name}\` must be a function`);
	return {
		kind: "step",
		run,
		retryPolicy,
		retries,
		retryDelayMs: millisecondsOf(retryDelay, "`retryDelay`"),
		maxRetryDelayMs: millisecondsOf(maxRetryDelay, "`maxRetryDelay`"),
		timeoutMs: timeout === undefined ? undefined : millisecondsOf(timeout, "`timeout`"),
		reconcile: reconcile?.bind(options),
	};
}

function invalid(why: string): HoldfastError {
	return new HoldfastTypeError("invalid_option", `An option of flow.step() was refused: ${why}.`);
}
