// One attempt of a step, and what follows after a crash (keeps I8).
import { HoldfastError, messageOf } from "@holdfast/upp";
import { type Run, withinCall } from "../engine/index.ts";
import { errorData } from "../facts/index.ts";
import { plainJson } from "../tools/index.ts";
import type { StepCall } from "./flow-call.ts";
import { notStored } from "./flow-checks.ts";
import { idInRun, type RecordedError, stateOf } from "./workflow-notes.ts";

/** An attempt of a step. */
export interface StepAttempt {
	readonly id: string;
	readonly step: StepCall;
	/** Number of the attempt, from 1. */
	readonly attempt: number;
}

/** How an attempt ended. `isFinal`: it must not be tried again. */
export type Attempted =
	| { readonly value: unknown; readonly error?: undefined }
	| { readonly error: RecordedError; readonly isFinal: boolean };

/** Returns the key that identifies a step in every attempt. */
function keyOf(run: Run, id: string): string {
	return `${run.runId}.${idInRun(stateOf(run), id)}`;
}

/** Calls the function of a step once. Never rejects. */
export async function attemptStep(
	run: Run,
	id: string,
	step: StepCall,
	{ attempt, signal }: { readonly attempt: number; readonly signal: AbortSignal },
): Promise<Attempted> {
	const controller = new AbortController();
	const abort = (): void => controller.abort(signal.reason);
	if (signal.aborted) abort();
	signal.addEventListener("abort", abort);
	let callOff = (): void => {};
	try {
		const context = { idempotencyKey: keyOf(run, id), attempt, signal: controller.signal };
		const called = withinCall(run.processKey, async () => step.run(context));
		if (step.timeoutMs === undefined) return stored(id, await called);
		const { timeoutMs } = step;
		const late = new Promise<never>((_, reject) => {
			callOff = run.agent.ports.timers.after(timeoutMs, () => {
				const error = timedOut(id, step);
				controller.abort(error);
				reject(error);
			});
		});
		return stored(id, await Promise.race([called, late]));
	} catch (error) {
		return failed(error, step);
	} finally {
		callOff();
		signal.removeEventListener("abort", abort);
	}
}

/** The outcome of a step that a crash interrupted; `again` if it runs again. */
export async function recoverStep(run: Run, id: string, step: StepCall): Promise<Attempted | "again"> {
	if (step.retryPolicy !== "manual-recovery") return "again";
	if (step.reconcile === undefined) return unknown(id, "");
	const { reconcile } = step;
	try {
		const found = await withinCall(run.processKey, async () => reconcile({ idempotencyKey: keyOf(run, id) }));
		if (found === undefined || found === null) return unknown(id, "");
		if ("retry" in found) return "again";
		if ("error" in found) return { error: recorded(found.error), isFinal: true };
		return stored(id, found.result);
	} catch (error) {
		return unknown(id, ` Asking for it failed: ${messageOf(error)}`);
	}
}

/** The delay before the next attempt in milliseconds. */
export function delayAfter({ retryDelayMs, maxRetryDelayMs }: StepCall, attempt: number): number {
	return Math.min(retryDelayMs * 2 ** (attempt - 1), maxRetryDelayMs);
}

function stored(id: string, value: unknown): Attempted {
	try {
		return { value: value === undefined ? undefined : plainJson(value) };
	} catch (error) {
		const why = `${notStored(`The result of the step ${JSON.stringify(id)}`, error)} Return plain data.`;
		return { error: recorded(new HoldfastError("unserialisable_value", why)), isFinal: true };
	}
}

function failed(error: unknown, { retryPolicy }: StepCall): Attempted {
	const data = recorded(error);
	// The outcome of an attempt that timed out is unknown.
	const isTimeout = data.code === "step_timeout";
	return { error: data, isFinal: isTimeout ? retryPolicy === "manual-recovery" : refusesRetries(error) };
}

function refusesRetries(error: unknown): boolean {
	try {
		return (error as { readonly retryable?: unknown } | null | undefined)?.retryable === false;
	} catch {
		return false;
	}
}

function recorded(error: unknown): RecordedError {
	const { code, message, retryable } = errorData(error);
	return { code: code === "run_failed" ? "step_failed" : code, message, retryable };
}

function timedOut(id: string, { timeoutMs, retryPolicy }: StepCall): HoldfastError {
	const why =
		retryPolicy === "manual-recovery"
			? " Its outcome is unknown, so it is not retried. Set its `retryPolicy` to `idempotent` if it may be."
			: "";
	return new HoldfastError(
		"step_timeout",
		`The step ${JSON.stringify(id)} did not end within ${timeoutMs} ms.${why}`,
		{ retryable: true },
	);
}

function unknown(id: string, why: string): Attempted {
	const error = new HoldfastError(
		"step_outcome_unknown",
		`The process died during the step ${JSON.stringify(id)}, so its outcome is unknown.${why} Set its \`retryPolicy\` to \`idempotent\` if it may run again, or give it \`reconcile\`.`,
	);
	return { error: recorded(error), isFinal: true };
}
