// The port that finds runs: the position of a run in the journal, unfinished runs, and dead workers. An execution host
// over a journal reads its runs through it, so that regular turns cost no extra writes.
import type { MaybePromise } from "./journal.ts";

/** Where a run is in the journal. */
export interface RunLocation {
	/** Key of its session. */
	readonly place: string;
	/** Seq of its first entry; undefined while it waits in the inbox. */
	readonly first?: number;
	/** Seq of its last entry; undefined while it has not ended. */
	readonly ended?: number;
}

/** The runs of a journal. */
export interface RunIndex {
	/** Undefined for a run that the journal does not know. */
	locate(runId: string): MaybePromise<RunLocation | undefined>;
	/** Ids of the runs that have started and not ended, or wait to start. */
	unfinishedRuns(): MaybePromise<readonly string[]>;
	/** Whether a worker is known to be dead, or left; false where in doubt. */
	isDead(workerId: string): MaybePromise<boolean>;
}
