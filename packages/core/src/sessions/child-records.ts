// Records of the work sessions start in child sessions and of the notices they are to get of it, where the host keeps any.
import type { RecordedRun } from "./session-records.ts";

/** Work for a sub-agent, as its records know it. */
export interface RecordedTask extends RecordedRun {
	readonly parentRunId: string;
	/** The id a model knows it by, of work in the background. */
	readonly publicTaskId?: string;
}

/** A notice for a session. */
export interface RecordedNotice {
	/** The same notice has the same key, however often it is given. */
	readonly key: string;
	/** The caller's key of the session. */
	readonly sessionKey: string;
	/** That session's: another that has its key since is not notified. */
	readonly incarnation: string;
	readonly text: string;
}

export interface ChildRecords {
	/**
	 * Who does lasting work in the background: `starter`, the process that accepted it, for others notice when it dies;
	 * `scheduled`, whoever is called by the scheduler.
	 */
	readonly doneBy: "starter" | "scheduled";
	/** Work was accepted; with `scheduled` the scheduler has somebody called. */
	accepted(task: RecordedTask, doneBy: "starter" | "scheduled"): Promise<void>;
	/** The store keys of the sessions in which a run has work done, where the journal may not list them. */
	placesOf(runId: string): Promise<readonly string[]>;
	/** Has the scheduler see to it that the session is notified. */
	notify(notice: RecordedNotice): Promise<void>;
}

/** The id of a notice in its session's inbox, and the key under which it is accepted once. */
export function noticeIdentity(key: string): { readonly id: string; readonly dedupeKey: string } {
	return { id: `notification-${key}`, dedupeKey: `notification ${key}` };
}
