// Ends the drive of a run in this process: either the run's end is recorded, or the run stays open to be resumed.
import { HoldfastError } from "@holdfast/upp";
import type { ErrorData, Fact, RunOutcome, RunState, WaitingChild } from "../facts/index.ts";
import { errorData, stoppedFacts } from "../facts/index.ts";
import type { Run } from "./run.ts";
import type { CommitOptions } from "./run-options.ts";
import { CommitFailed, CutShort, Parks, Stopped, Waits } from "./stopped.ts";
import { isTooLarge } from "./unwritable.ts";

/** The way that the drive of a run ended in this process. */
export type DriveOutcome =
	| {
			readonly kind: "ended";
			readonly outcome: RunOutcome;
			readonly error?: unknown;
			/** Sub-agents with which the run had just begun to wait. */
			readonly children?: readonly WaitingChild[] | undefined;
	  }
	/** Left open in the journal: on request, because it waits, was fenced or parked, or because a commit was refused. */
	| {
			readonly kind: "left";
			readonly reason: "suspended" | "waiting" | "lease_lost" | "journal_failed" | "parked";
			readonly error?: unknown;
	  };

/** Ends a drive after an error. Never rejects. */
export async function stopOrFail(run: Run, thrown: unknown): Promise<DriveOutcome> {
	const cut = thrown instanceof CutShort ? thrown : { cause: thrown };
	const { cause: error, facts = [], partial, neverRan = [] } = cut as Partial<CutShort> & { cause: unknown };
	if (error instanceof CommitFailed)
		return left(run, lostLease(error.cause) ? "lease_lost" : "journal_failed", error.cause);
	if (error instanceof Waits) return waiting(run, error.facts);
	if (error instanceof Parks) return parked(run, error, neverRan);
	if (error instanceof Stopped) {
		if (error.reason === "suspend") return suspended(run, neverRan);
		if (error.reason === "kill") return killed(run);
		if (error.reason !== "interrupt") return left(run, "lease_lost", undefined);
	}
	const interrupted = error instanceof Stopped;
	const outcome: RunOutcome = interrupted ? "aborted" : "error";
	const data: { error?: ErrorData } = interrupted ? {} : { error: errorData(error) };
	try {
		await commit(run, [
			...facts,
			{ kind: "run.ended", outcome, ...data, ...(partial === undefined ? {} : { partial }) },
		]);
	} catch (failure) {
		if (!(failure instanceof CommitFailed)) return endedBare(run, outcome, failure);
		return left(run, lostLease(failure.cause) ? "lease_lost" : "journal_failed", failure.cause);
	}
	return { kind: "ended", outcome, error: interrupted ? undefined : error };
}

/**
 * Ends a run without the content of its facts, because policy or the store refuses the end just as it refused earlier
 * facts.
 */
async function endedBare(run: Run, outcome: RunOutcome, error: unknown): Promise<DriveOutcome> {
	try {
		const committed = run.commitAsIs([refusedEnd(outcome, error)]);
		if (committed instanceof Promise) await committed;
	} catch (failure) {
		const cause = failure instanceof CommitFailed ? failure.cause : failure;
		return left(run, lostLease(cause) ? "lease_lost" : "journal_failed", cause);
	}
	return { kind: "ended", outcome, error: outcome === "aborted" ? undefined : error };
}

/** Creates the end of a run whose facts were refused. It contains none of their content, so it needs no admission. */
export function refusedEnd(outcome: RunOutcome, refusal: unknown): Fact {
	if (isTooLarge(refusal)) return { kind: "run.ended", outcome, error: errorData(refusal) };
	const message = "Policy rejected an entry of the run; see `policy_refused` in the documentation.";
	const error = errorData(new HoldfastError("policy_refused", message));
	return { kind: "run.ended", outcome, ...(outcome === "aborted" ? {} : { error }) };
}

/** The kill has recorded the end of the run; here it is only emitted. */
function killed(run: Run): DriveOutcome {
	const { usage, step } = run.state.run ?? {
		usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
		step: 0,
	};
	const error = sessionKilled();
	const { runId } = run;
	run.emit({
		type: "run_end",
		at: run.agent.ports.clock.now(),
		...run.at,
		runId,
		outcome: "killed",
		error: errorData(error),
		usage,
		steps: step,
	});
	return { kind: "ended", outcome: "killed", error };
}

/** Creates the error of a run whose session was killed. */
export function sessionKilled(): HoldfastError {
	return new HoldfastError(
		"session_killed",
		"The session was killed: its runs have ended. Get a new handle to continue.",
	);
}

/** The run occupies no process while it waits. A run that was interrupted as it began to wait ends here. */
async function waiting(run: Run, facts: readonly Fact[]): Promise<DriveOutcome> {
	const isWanted = run.stopReason !== "interrupt";
	const settled = isWanted ? facts : facts.filter(({ kind }) => kind !== "waiting");
	try {
		if (settled.length > 0) await commit(run, settled);
		if (run.stopReason === "interrupt") return await interrupted(run, facts);
	} catch (error) {
		return stopOrFail(run, error);
	}
	return left(run, "waiting", undefined);
}

/** Ends a run that can only wait. */
async function interrupted(run: Run, left: readonly Fact[]): Promise<DriveOutcome> {
	const [unrecorded] = left.filter((fact) => fact.kind === "waiting");
	const state = run.state.run as RunState;
	const { children = state.children } = unrecorded ?? {};
	const open = { ...state, children };
	const ended: Fact = { kind: "run.ended", outcome: "aborted" };
	const facts = [...stoppedFacts(open), ended];
	// If the wait is recorded, so is its end.
	if (open.status === "waiting") {
		const fingerprint = run.agent.fingerprint();
		facts.unshift({ kind: "run.resumed", attempt: open.attempt + 1, fingerprint, reason: "answered" });
	}
	await commit(run, facts);
	return { kind: "ended", outcome: "aborted", children };
}

/** The run stays open and does not continue by itself. The committed fact is the event of it. */
async function parked(
	run: Run,
	{ reason, cause }: Parks,
	neverRan: readonly string[],
): Promise<DriveOutcome> {
	const crashes = run.state.run?.crashes ?? 0;
	const note: Fact = { kind: "note", step: stepOf(run), topic: "suspended", value: { neverRan } };
	try {
		await commit(run, [
			...(neverRan.length === 0 ? [] : [note]),
			{ kind: "run.parked", reason, crashes, error: errorData(cause) },
		]);
	} catch (error) {
		return stopOrFail(run, error);
	}
	return { kind: "left", reason: "parked", error: cause };
}

/** Notes that the run was left on purpose, so that its resume does not count as a crash. */
async function suspended(run: Run, neverRan: readonly string[]): Promise<DriveOutcome> {
	const value = neverRan.length === 0 ? true : { neverRan };
	try {
		await commit(run, [{ kind: "note", step: stepOf(run), topic: "suspended", value }]);
	} catch (error) {
		if (!(error instanceof CommitFailed)) return left(run, "suspended", undefined); // resumed like after a crash
		return left(run, lostLease(error.cause) ? "lease_lost" : "journal_failed", error.cause);
	}
	return left(run, "suspended", undefined);
}

/** This process records nothing more; the run stays open to be resumed. */
function left(
	run: Run,
	reason: Extract<DriveOutcome, { kind: "left" }>["reason"],
	error: unknown,
): DriveOutcome {
	if (run.watched) {
		const data = error === undefined ? {} : { error: errorData(error) };
		run.emit({ type: "run_suspended", ...run.at, runId: run.runId, reason, ...data });
	}
	return { kind: "left", reason, ...(error === undefined ? {} : { error }) };
}

function lostLease(error: unknown): boolean {
	return (error as { code?: unknown } | undefined)?.code === "lease_lost";
}

/** Commits facts. Waits only if the store does. */
export async function commit(run: Run, facts: readonly Fact[], options?: CommitOptions): Promise<void> {
	const committed = run.commit(facts, options);
	if (committed instanceof Promise) await committed;
}

/** Returns the number of the current step; 0 before the first. */
export function stepOf(run: Run): number {
	return run.state.run?.step ?? 0;
}
