// Records of a session's runs, of the work that they start in child sessions, and of the notices that they get about it.
// Hosts that keep records store them alongside the journal.
import type { Ledger } from "../engine/index.ts";
import type { RunKind } from "../facts/index.ts";

/** A run in its records. */
export interface RecordedRun {
	readonly runId: string;
	/** The caller's key of its session. */
	readonly sessionKey: string;
	readonly kind: RunKind;
	readonly parentRunId?: string;
	/** The model's last message, for a resumed run. */
	readonly said?: string | undefined;
}

/** Why a run was ended from outside. Turns of a deleted session leave no record. */
export type EndReason = "killed" | "deleted";

export interface SessionRecords {
	/** The records of work in child sessions. */
	readonly children: ChildRecords;
	/** A turn was accepted and waits for its start. */
	queued(run: RecordedRun): Promise<void>;
	/** Whether this process may resume a run that it finds open: no other process has a claim on it. */
	take(runId: string): Promise<boolean>;
	/** The ledger of a run that is about to be driven; undefined if its journal is sufficient. */
	ledger(run: RecordedRun): Ledger | undefined;
	/** Runs of a session were ended from outside, or will never begin; their work is stopped when this settles. */
	cancelled(runIds: readonly string[], storeKey: string, why: EndReason): Promise<void>;
	/** The session of this incarnation was deleted: notifications for it are deleted too. */
	deleted(incarnation: string): Promise<void>;
}

/** Work for a sub-agent in its records. */
export interface RecordedTask extends RecordedRun {
	readonly parentRunId: string;
	/** For background work: the id by which a model refers to it. */
	readonly publicTaskId?: string;
}

/** A notice for a session. */
export interface RecordedNotice {
	/** The same notice has the same key, however often it is sent. */
	readonly key: string;
	/** The caller's key of the session. */
	readonly sessionKey: string;
	/** The session's incarnation: a later session with the same key is not notified. */
	readonly incarnation: string;
	readonly text: string;
}

export interface ChildRecords {
	/**
	 * Which process is responsible for durable background work: `starter`, the process that accepted it, whose death
	 * others notice; `scheduled`, the one that the scheduler calls.
	 */
	readonly doneBy: "starter" | "scheduled";
	/** Work was accepted. With `scheduled`, the scheduler delivers it. */
	accepted(task: RecordedTask, doneBy: "starter" | "scheduled"): Promise<void>;
	/** Returns the store keys of the sessions in which a run has work done, if the journal may not list them. */
	placesOf(runId: string): Promise<readonly string[]>;
	/** Schedules a notification of the session. */
	notify(notice: RecordedNotice): Promise<void>;
}

/** Returns the id of a notice in its session's inbox and its dedupe key. */
export function noticeIdentity(key: string): { readonly id: string; readonly dedupeKey: string } {
	return { id: `notification-${key}`, dedupeKey: `notification ${key}` };
}
