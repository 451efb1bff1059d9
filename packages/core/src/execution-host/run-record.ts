// Runs as a host stores them: their purpose, status, and owner.
import type { ErrorData, RunKind } from "../facts/index.ts";

/** The status of a run. `completed`, `cancelled` and `error` are final. */
export type RunStatus =
	| "queued"
	| "leased"
	| "running"
	| "suspended"
	| "needs-recovery"
	| "completed"
	| "cancelled"
	| "error";

/** The owner of a run, and the end of its lease. */
export interface RunLease {
	/** Counted from 1, incremented with each claim of the run. */
	readonly attempt: number;
	/** Identifies the claim. Its holder passes it to renew the claim; a stale one is fenced. */
	readonly leaseId: string;
	/** In milliseconds since the epoch, by the host's clock. */
	readonly leaseUntilMs: number;
	/** The claiming worker, on a host that tracks its workers: the claim ends early if that worker dies. */
	readonly workerId?: string;
}

/** A run as an execution host stores it. */
export interface RunRecord {
	readonly runId: string;
	/** The root of the chain of parents; the run's own id if it has no parent. */
	readonly rootRunId: string;
	/** The cause of the run. */
	readonly kind: RunKind;
	/** The state of the run, or how it ended. */
	readonly status: RunStatus;
	/** The caller's key of the session the run belongs to. */
	readonly sessionKey: string;
	/** Version of the run's last checkpoint; 0 if there is none. */
	readonly checkpointVersion: number;
	/** The run that started it, if any. */
	readonly parentRunId?: string;
	/** Runs with the same key count as one run. A notification's run has the notification's idempotency key. */
	readonly dedupeKey?: string;
	/** The current claim. */
	readonly lease?: RunLease;
	/**
	 * The output of the run, JSON-safe: the text of its last answer, or empty if there was none. Present once it has
	 * ended.
	 */
	readonly output?: unknown;
	/** Why the run ended with `error` or `cancelled`. */
	readonly error?: ErrorData;
	/** Namespace of the agent that owns the session. */
	readonly ownerNamespace?: string;
	/** The `bg_...` id by which a model refers to the run. */
	readonly publicTaskId?: string;
}

/** A run to create; defaults: `rootRunId` is its own id, `checkpointVersion` 0. */
export type NewRun = Omit<RunRecord, "rootRunId" | "checkpointVersion"> &
	Partial<Pick<RunRecord, "rootRunId" | "checkpointVersion">>;

/** Options for claiming a run. */
export interface ClaimRunOptions {
	/** Default: one more than that of the previous claim. */
	readonly attempt?: number;
	/** Identifies the claim; the current one's id renews it. Default: a new one. */
	readonly leaseId?: string;
	/** How long the claim is valid without renewal, in milliseconds. Default 30,000. */
	readonly leaseMs?: number;
	/** Milliseconds since the epoch. Default: by the host's clock. */
	readonly nowMs?: number;
}

/** The claimed run, or the reason it could not be claimed. */
export type ClaimRunResult =
	| { readonly ok: true; readonly lease: RunLease; readonly record: RunRecord }
	/** `leased`: an unexpired claim exists. `not-claimable`: the run has ended. */
	| { readonly ok: false; readonly reason: "leased" | "not-claimable" | "not-found" };

/** The runs of an execution host. */
export interface RunStore {
	/** Records a run and returns the record. Repeating this with the same id or dedupe key changes nothing. */
	create(record: NewRun): Promise<RunRecord>;
	/** Returns a run; null if it does not exist. */
	get(runId: string): Promise<RunRecord | null>;
	/** Returns the run with this key, or null. */
	getByDedupeKey(dedupeKey: string): Promise<RunRecord | null>;
	/** Returns the runs that a run has started, in the order they were created. */
	listByParentRunId(parentRunId: string): Promise<readonly RunRecord[]>;
	/** Claims a run for a limited time. If it was `queued` or `suspended`, it becomes `leased`. */
	claim(runId: string, options: ClaimRunOptions): Promise<ClaimRunResult>;
	/** Replaces the record of a run and returns the result. A record with a final status is not changed. */
	update(record: RunRecord): Promise<RunRecord>;
	/**
	 * Deletes a run with its checkpoints and events, because its session was deleted. On a host without this method,
	 * records of such runs remain as cancelled.
	 */
	delete?(runId: string): Promise<unknown>;
}

/** Whether the status is final. */
export function isFinal(status: RunStatus): boolean {
	return status === "completed" || status === "cancelled" || status === "error";
}
