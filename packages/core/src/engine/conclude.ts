// Converts the end of a drive to what the caller gets: the result, or the thrown error.
import { HoldfastError, type Turn, UPPError } from "@holdfast/upp";
import type { GenerateResult } from "../state/index.ts";
import type { DriveOutcome } from "./end-run.ts";
import type { Run } from "./run.ts";
import { outputOf, turnOf, wholeTurn } from "./step.ts";
import { Stopped } from "./stopped.ts";

/**
 * Returns the result of a completed run. Does not call `onComplete`; calls the hook `onError`, once. `turn` is the turn
 * so far, if already known. Throws the original error of a failed run, and UPPError `CANCELLED` for an aborted one.
 */
export async function resultOf(
	run: Run,
	outcome: DriveOutcome,
	turn: Turn | undefined = turnOf(run),
): Promise<GenerateResult> {
	const { hooks } = run.agent;
	if (outcome.kind === "ended" && outcome.outcome === "completed") {
		const output = outputOf(run);
		const whole = turn ?? wholeTurn(run);
		return {
			turn: whole,
			state: run.state.agent,
			...(whole.stopReason === undefined ? {} : { stopReason: whole.stopReason }),
			...(output === undefined ? {} : { output }),
		};
	}
	const error = errorOf(run, outcome);
	if (outcome.kind === "ended" && outcome.outcome === "error" && hooks.onError !== undefined) {
		const recovered = await answered(run, hooks.onError(error, run.state.agent));
		if (recovered !== undefined && recovered !== null) return recovered as GenerateResult;
	}
	throw error;
}

/** Calls `onComplete` with the result of a completed run. */
export async function notifyComplete(
	run: Run,
	outcome: DriveOutcome,
	result: GenerateResult,
): Promise<GenerateResult> {
	const { hooks } = run.agent;
	const completed = outcome.kind === "ended" && outcome.outcome === "completed";
	if (completed && hooks.onComplete !== undefined) await answered(run, hooks.onComplete(result));
	return result;
}

/** Returns the final result of a run and calls the hooks `onComplete` and `onError`, once. */
export async function conclude(run: Run, outcome: DriveOutcome): Promise<GenerateResult> {
	return notifyComplete(run, outcome, await resultOf(run, outcome));
}

/** Returns a hook's answer. A hook that never returns does not delay cancellation (keeps I8). */
async function answered<T>(run: Run, answer: T | PromiseLike<T>): Promise<T> {
	if (run.stopReason !== undefined) return answer;
	try {
		return await run.untilStopped(answer);
	} catch (error) {
		throw error instanceof Stopped ? cancelled() : error;
	}
}

function errorOf(run: Run, outcome: DriveOutcome): unknown {
	if (outcome.kind === "ended" && outcome.outcome === "error") return outcome.error;
	if (outcome.error !== undefined) return outcome.error;
	if (outcome.kind === "left" && outcome.reason === "lease_lost") {
		return new HoldfastError(
			"lease_lost",
			"Another worker has taken this session over; the run continues there.",
			{ retryable: true },
		);
	}
	if (outcome.kind === "left")
		return new HoldfastError("run_suspended", `Run ${run.runId} was suspended; resume it to continue.`, {
			retryable: true,
		});
	return cancelled();
}

/** Creates the error for a caller that cancelled. */
export function cancelled(): UPPError {
	return new UPPError("The run was cancelled.", "CANCELLED", "holdfast", "llm");
}
