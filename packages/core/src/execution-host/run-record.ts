// Runs as a host keeps them: what each is for, its status, and who works on it.
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

/** Who works on a run, until when. */
export interface RunLease {
	/** From 1; one more each time the run is claimed anew. */
	readonly attempt: number;
	/** Names the claim; its holder shows it to renew or to be fenced. */
	readonly leaseId: string;
	/** Milliseconds since the epoch, by the host's clock. */
	readonly leaseUntilMs: number;
	/** Whose claim it is, on a host that knows its workers: it ends early when that one is dead. */
	readonly workerId?: string;
}

/** A run as an execution host stores it. @see keyed sessions, RunRecord */
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
	/** What the run came to, compact and JSON-safe. */
	readonly output?: unknown;
	/** Why the run ended with `error` or `cancelled`. */
	readonly error?: ErrorData;
	/** Namespace of the agent whose session it is. */
	readonly ownerNamespace?: string;
	/** The `bg_...` id a model knows the run by. */
	readonly publicTaskId?: string;
}

/** A run to create; what is left out: `rootRunId` is its own id, `checkpointVersion` 0. */
export type NewRun = Omit<RunRecord, "rootRunId" | "checkpointVersion" | "lease"> &
	Partial<Pick<RunRecord, "rootRunId" | "checkpointVersion" | "lease">>;

/** What may change of a run. `lease: null` gives the lease up: the next claim need not wait for its end. */
export type RunChange = Partial<Pick<RunRecord, "status" | "output" | "error" | "checkpointVersion">> & {
	readonly lease?: null;
};

/** The new run, or the one that exists. */
export type CreateRunResult =
	| { readonly ok: true; readonly run: RunRecord }
	/** A run with that id or dedupe key is already; it is as it was. */
	| { readonly ok: false; readonly reason: "exists"; readonly run: RunRecord };

/** How a run is claimed or its claim renewed. */
export interface ClaimRunOptions {
	/** Milliseconds the claim is valid without renewal. Default 30,000. */
	readonly leaseMs?: number;
	/** The lease to renew: the claim continues under it, the attempt stays. */
	readonly leaseId?: string;
}

/** The claimed run, or why it could not be claimed. */
export type ClaimRunResult =
	| { readonly ok: true; readonly run: RunRecord & { readonly lease: RunLease } }
	/**
	 * `leased`: another claim has not expired. `lease-lost`: the lease to renew is not the current one.
	 * `final`: the run has ended.
	 */
	| { readonly ok: false; readonly reason: "not-found" | "leased" | "lease-lost" | "final" };

/** The lease that must hold for a change of a run. */
export interface UpdateRunOptions {
	/** Refuse the change unless this lease is valid, expired or not: nobody else has claimed the run. */
	readonly leaseId?: string;
}

/** The changed run, or why it was not changed. */
export type UpdateRunResult =
	| { readonly ok: true; readonly run: RunRecord }
	/** `final`: a status that is final does not change any more. */
	| { readonly ok: false; readonly reason: "not-found" | "lease-lost" | "final" };

/** The runs of an execution host. */
export interface RunStore {
	/** Records a run; the same id or dedupe key a second time changes nothing. */
	create(run: NewRun): Promise<CreateRunResult>;
	get(runId: string): Promise<RunRecord | null>;
	getByDedupeKey(dedupeKey: string): Promise<RunRecord | null>;
	/** The runs a run has started, in the order they were created. */
	listByParentRunId(parentRunId: string): Promise<readonly RunRecord[]>;
	/** Takes the right to work on a run, for a time. A run that was `queued` or `suspended` is then `leased`. */
	claim(runId: string, options?: ClaimRunOptions): Promise<ClaimRunResult>;
	update(runId: string, change: RunChange, options?: UpdateRunOptions): Promise<UpdateRunResult>;
}

/** Whether a run in this status has ended for good. */
export function isFinal(status: RunStatus): boolean {
	return status === "completed" || status === "cancelled" || status === "error";
}
