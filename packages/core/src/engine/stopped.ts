// The ways to leave a drive before the run ends: a requested stop, a refused commit, or a wait for an outside answer.
import type { AssistantMessage, HoldfastError } from "@holdfast/upp";
import type { Fact, RunParked, WaitingChild } from "../facts/index.ts";

/** Why a run was asked to stop. `interrupt` ends it; the others leave it open to be resumed. */
export type StopReason = "interrupt" | "suspend" | "lease-lost" | "kill";

/** Thrown inside the drive if the run was asked to stop. */
export class Stopped extends Error {
	readonly reason: StopReason;
	constructor(reason: StopReason) {
		super(`stopped: ${reason}`);
		this.reason = reason;
	}
}

/** Thrown inside the drive if the store refused a commit: nothing more can be recorded. */
export class CommitFailed extends Error {
	override readonly cause: unknown;
	constructor(cause: unknown) {
		super("the journal refused the commit");
		this.cause = cause;
	}
}

/** Thrown inside the drive with an error that ends the run. Carries the facts to commit with the end, in one append. */
export class CutShort extends Error {
	override readonly cause: unknown;
	/** Facts to commit before the end. */
	readonly facts: readonly Fact[];
	/** The partial text of an answer that never finished. */
	readonly partial: AssistantMessage | undefined;
	/** Ids of the calls that are recorded as started but whose functions never ran. */
	readonly neverRan: readonly string[];
	constructor(
		cause: unknown,
		{ facts = [], partial, neverRan = [] }: Partial<Pick<CutShort, "facts" | "partial" | "neverRan">>,
	) {
		super("the run was cut short");
		this.cause = cause;
		this.facts = facts;
		this.partial = partial;
		this.neverRan = neverRan;
	}
}

/** Thrown inside the drive if the run cannot progress until an outside event arrives. */
export class Waits extends Error {
	/** Facts to commit before the run is left. */
	readonly facts: readonly Fact[];
	constructor(facts: readonly Fact[]) {
		super("waits for an outside answer");
		this.facts = facts;
	}
}

/** Thrown inside the drive if the run cannot continue until someone has corrected the cause: it is parked. */
export class Parks extends Error {
	override readonly cause: HoldfastError;
	readonly reason: RunParked["reason"];
	constructor(reason: RunParked["reason"], cause: HoldfastError) {
		super("the run is parked");
		this.reason = reason;
		this.cause = cause;
	}
}

/**
 * Thrown by a tool whose sub-agent waits. The call waits too, and its function is called again when the sub-agent
 * continues.
 */
export class ChildWaits extends Error {
	readonly child: Omit<WaitingChild, "callId">;
	/** Ends the sub-agent's work. Called if the run of the call ends first. */
	readonly end: () => Promise<void>;
	constructor(child: Omit<WaitingChild, "callId">, end: () => Promise<void>) {
		super("the sub-agent waits");
		this.child = child;
		this.end = end;
	}
}

/** Returns why the run of this signal was stopped; undefined if it failed or was not asked to stop. */
export function stopReasonOf(signal: AbortSignal): StopReason | undefined {
	return (signal.reason as { stopReason?: StopReason } | undefined)?.stopReason;
}
