// Makes a run wait, instead of failing, if its model's provider asks it to slow down or cannot be reached (keeps I3, I8).
// The wait is a fact: a session occupies no process during it, and any worker calls the model again when the wait ends.
import { isUPPError, type UPPError } from "@holdfast/upp";
import { errorData, modelRetryNote, ofNoSession, type PendingWait } from "../facts/index.ts";
import { waitUntil } from "./act-without-model.ts";
import { commit, stepOf } from "./end-run.ts";
import type { Run } from "./run.ts";
import { ChildWaits, Waits } from "./stopped.ts";

/** How long, and how often, runs wait for their model's provider. */
export interface ModelWaitOptions {
	/** Milliseconds after the first failure at which a run fails with the provider's error. Default: a day. */
	readonly atMostMs?: number;
	/** How many times the model is called again before a run fails. Default: no limit. */
	readonly attempts?: number;
	/**
	 * Milliseconds of the first wait; each further wait is twice as long. If the provider specifies a delay, that applies
	 * instead. Default 30,000.
	 */
	readonly firstMs?: number;
	/** Milliseconds of the longest wait that the provider did not specify. Default 600,000. */
	readonly longestMs?: number;
}

/** `ModelWaitOptions` with all defaults filled in. */
export type ModelWait = Required<ModelWaitOptions>;

/** Consecutive failures of a model, without an answer between them. */
export interface ModelFailures {
	/** The time of the first failure in milliseconds since the epoch. */
	readonly since: number;
	readonly attempt: number;
}

/** The tag of a wait for the model's provider. */
const tag = "model";
/** Milliseconds of the shortest first wait that a provider may specify. */
const shortest = 1_000;
/** Waits that the provider did not specify are extended by up to this fraction, so that not all runs return at once. */
const spread = 0.2;
/** Status codes of gateways, or of an overloaded provider. */
const unreachable: ReadonlySet<number | undefined> = new Set([502, 503, 504, 521, 522, 523, 524, 529]);

export const modelWaitDefaults: ModelWait = {
	atMostMs: 86_400_000,
	attempts: Number.POSITIVE_INFINITY,
	firstMs: 30_000,
	longestMs: 600_000,
};

/**
 * Leaves the run until its model may be called again, or waits in place if no process could continue it. Returns true to
 * call the model now, and false if the run does not wait for this error.
 */
export async function waitForModel(run: Run, step: number, error: unknown): Promise<boolean> {
	const { modelWait } = run;
	if (modelWait === undefined || !isUnavailable(error)) return false;
	const next = nextTry(run, modelWait, error, failuresOf(run));
	if (next === undefined) return false;
	const { failures, delay, until, attempt } = next;
	const retry = { step, attempt: attempt + 1, delay, error: errorData(error) };
	if (run.watched && run.admission === undefined) run.emit({ type: "model_retry", ...run.at, ...retry });
	const note = modelRetryNote(retry);
	if (!run.mayWait) {
		await commit(run, [note]);
		run.modelFailures = { ...failures, cycles: run.state.run?.cycles };
		await waitUntil(run, until);
		return true;
	}
	const wait: PendingWait = { tag, until, model: { ...failures, code: error.code } };
	const waiting = { kind: "waiting", step: stepOf(run), calls: [], wait } as const;
	// A message that arrives at the last moment is shown to the model at once.
	if (!(await run.commit([note, waiting], { onlyIfNothingWaits: true }))) {
		await run.inputs.fetch();
		if (await run.inputs.take("step-end")) return true;
		await commit(run, [note, waiting]);
	}
	throw new Waits([]);
}

/** Returns when to call the provider again; undefined if it has failed too often or for too long. */
function nextTry(
	run: Run,
	modelWait: ModelWait,
	error: UPPError,
	before: ModelFailures | undefined,
): { failures: ModelFailures; attempt: number; delay: number; until: number } | undefined {
	const now = run.agent.ports.clock.now();
	const { since, attempt } = before ?? { since: now, attempt: 0 };
	const delay = delayOf(error, attempt, modelWait, run.runId);
	const until = now + delay;
	if (attempt >= modelWait.attempts || until - since > modelWait.atMostMs) return undefined;
	return { failures: { since, attempt: attempt + 1 }, attempt, delay, until };
}

/**
 * Returns the error that makes a call wait for a provider that it called itself. Its run waits too, and calls the
 * function again when the provider may be called again. `before` is the call's last wait. Returns undefined if the run
 * does not wait for this error.
 */
export function callWaitsForModel(
	run: Run,
	error: unknown,
	before: PendingWait | undefined,
): ChildWaits | undefined {
	const { modelWait } = run;
	if (modelWait === undefined || !run.mayWait || !isUnavailable(error)) return undefined;
	const next = nextTry(run, modelWait, error, before?.model);
	if (next === undefined) return undefined;
	const { failures, until } = next;
	const wait: PendingWait = { tag, until, model: { ...failures, code: error.code } };
	return new ChildWaits({ ...ofNoSession, calls: [], wait }, async () => {});
}

function failuresOf(run: Run): ModelFailures | undefined {
	const { state, modelFailures } = run;
	if (run.mayWait) return state.run?.wait?.model;
	return modelFailures?.cycles === state.run?.cycles ? modelFailures : undefined;
}

/** Whether the model may answer the same request later, because its provider is busy or cannot be reached. */
function isUnavailable(error: unknown): error is UPPError {
	if (!isUPPError(error)) return false;
	switch (error.code) {
		case "RATE_LIMITED":
		case "NETWORK_ERROR":
			return true;
		case "PROVIDER_ERROR":
		case "TIMEOUT":
			return unreachable.has(error.statusCode);
		default:
			return false;
	}
}

function delayOf(
	{ retryAfterMs }: UPPError,
	attempt: number,
	{ firstMs, longestMs }: ModelWait,
	runId: string,
): number {
	const isAsked = typeof retryAfterMs === "number" && retryAfterMs >= 0;
	// The delay grows even if the provider keeps asking for a short one.
	if (isAsked) return Math.ceil(Math.max(retryAfterMs, Math.min(longestMs, shortest * 2 ** attempt)));
	return Math.ceil(Math.min(longestMs, firstMs * 2 ** attempt) * (1 + spread * partOf(runId)));
}

/** Returns a number from 0 to 1 that is always the same for the same run. */
function partOf(runId: string): number {
	let sum = 0;
	for (let at = 0; at < runId.length; at++) sum = (sum * 31 + runId.charCodeAt(at)) % 1_000;
	return sum / 1_000;
}
