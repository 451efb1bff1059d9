// The port that finds runs: the position of a run in the journal, unfinished runs, and dead workers. An execution host
// over a journal reads its runs through it, so that regular turns need no extra writes.
import type { MaybePromise } from "./journal.ts";

/** The position of a run in the journal. */
export interface RunLocation {
	/** Key of its session. */
	readonly place: string;
	/** Seq of its first entry; undefined if it still waits in the inbox. */
	readonly first?: number;
	/** Seq of its last entry; undefined if it has not ended. */
	readonly ended?: number;
}

/** The runs of a journal. */
export interface RunIndex {
	/** Returns undefined for a run that the journal does not contain. */
	locate(runId: string): MaybePromise<RunLocation | undefined>;
	/** Returns the ids of runs that have started and not ended, or wait to start. */
	unfinishedRuns(): MaybePromise<readonly string[]>;
	/** Whether a worker is known to be dead or to have left; false if in doubt. */
	isDead(workerId: string): MaybePromise<boolean>;
}
