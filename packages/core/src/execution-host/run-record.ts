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
	/** From 1, incremented with each claim of the run. */
	readonly attempt: number;
	/** Names the claim; its holder shows it to renew or to be fenced. */
	readonly leaseId: string;
	/** Milliseconds since the epoch, by the host's clock. */
	readonly leaseUntilMs: number;
	/** Whose claim it is, on a host that knows its workers: it ends early when that one is dead. */
	readonly workerId?: string;
}

/** A run as an execution host stores it. */
export interface RunRecord {
	readonly runId: string;
	/** The run at the top of the chain of parents; its own id when there is no parent. */
	readonly rootRunId: string;
	readonly kind: RunKind;
	readonly status: RunStatus;
	/** The caller's key of the session the run belongs to. */
	readonly sessionKey: string;
	/** Version of the run's last checkpoint; 0 if absent. */
	readonly checkpointVersion: number;
	readonly parentRunId?: string;
	/** Runs with the same key are one run. A notification's run has the notification's idempotency key. */
	readonly dedupeKey?: string;
	readonly lease?: RunLease;
	/** The output of the run, JSON-safe: the text of its last answer, empty without one. Present when it has ended. */
	readonly output?: unknown;
	/** Why the run ended with `error` or `cancelled`. */
	readonly error?: ErrorData;
	/** Namespace of the agent whose session it is. */
	readonly ownerNamespace?: string;
	/** The `bg_...` id a model knows the run by. */
	readonly publicTaskId?: string;
}

/** A run to create; defaults: `rootRunId` is its own id, `checkpointVersion` 0. */
export type NewRun = Omit<RunRecord, "rootRunId" | "checkpointVersion"> &
	Partial<Pick<RunRecord, "rootRunId" | "checkpointVersion">>;

/** How a run is claimed. */
export interface ClaimRunOptions {
	/** Default: one more than that of the claim before. */
	readonly attempt?: number;
	/** Name of the claim; the one that is valid is renewed. Default: a new one. */
	readonly leaseId?: string;
	/** Milliseconds the claim is valid without renewal. Default 30,000. */
	readonly leaseMs?: number;
	/** Milliseconds since the epoch. Default: by the host's clock. */
	readonly nowMs?: number;
}

/** The claimed run, or why it could not be claimed. */
export type ClaimRunResult =
	| { readonly ok: true; readonly lease: RunLease; readonly record: RunRecord }
	/** `leased`: another claim has not expired. `not-claimable`: the run has ended. */
	| { readonly ok: false; readonly reason: "leased" | "not-claimable" | "not-found" };

/** The runs of an execution host. */
export interface RunStore {
	/** Records a run and returns the record. A second time with the same id or dedupe key changes nothing. */
	create(record: NewRun): Promise<RunRecord>;
	get(runId: string): Promise<RunRecord | null>;
	getByDedupeKey(dedupeKey: string): Promise<RunRecord | null>;
	/** The runs a run has started, in the order they were created. */
	listByParentRunId(parentRunId: string): Promise<readonly RunRecord[]>;
	/** Takes the right to work on a run, for a time. A run that was `queued` or `suspended` is then `leased`. */
	claim(runId: string, options: ClaimRunOptions): Promise<ClaimRunResult>;
	/** Replaces the record of a run and returns the result: a record with a final status is not changed. */
	update(record: RunRecord): Promise<RunRecord>;
	/** Deletes a run with its checkpoints and events; its session was deleted. Without it, records of such runs stay, as cancelled. */
	delete?(runId: string): Promise<unknown>;
}

/** Whether a run in this status has ended for good. */
export function isFinal(status: RunStatus): boolean {
	return status === "completed" || status === "cancelled" || status === "error";
}
