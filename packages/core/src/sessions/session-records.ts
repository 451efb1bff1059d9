// Records of a session's runs beside its journal, where the host keeps any.
import type { Ledger } from "../engine/index.ts";
import type { RunKind } from "../facts/index.ts";
import type { ChildRecords } from "./child-records.ts";

/** A run as its records know it. */
export interface RecordedRun {
	readonly runId: string;
	/** The caller's key of its session. */
	readonly sessionKey: string;
	readonly kind: RunKind;
	readonly parentRunId?: string;
	/** What the model said last, of a run that is resumed. */
	readonly said?: string | undefined;
}

/** Why runs end from outside. Turns of a session that is deleted leave no record. */
export type EndReason = "killed" | "deleted";

export interface SessionRecords {
	/** What is recorded of work in child sessions. */
	readonly children: ChildRecords;
	/** A turn was accepted and waits for its start. */
	queued(run: RecordedRun): Promise<void>;
	/** Whether this process may resume a run that it finds open: nobody else has a claim on it. */
	take(runId: string): Promise<boolean>;
	/** What records a run that is about to be driven; undefined where its journal says it all. */
	ledger(run: RecordedRun): Ledger | undefined;
	/** Runs of a session were ended from outside, or will never begin; their work is stopped when this settles. */
	cancelled(runIds: readonly string[], storeKey: string, why: EndReason): Promise<void>;
	/** The session of this incarnation was deleted: notifications made for it are deleted too. */
	deleted(incarnation: string): Promise<void>;
}
