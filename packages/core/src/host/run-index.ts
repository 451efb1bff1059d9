// The port that finds runs: where a run is in the journal, which are unfinished, and who is known to be dead. An execution
// host over a journal reads its runs by it, so that what every turn is known by costs no write of its own.
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
	/** Ids of the runs that have begun and not ended, or wait for their start. */
	unfinishedRuns(): MaybePromise<readonly string[]>;
	/** Whether a worker is known to be dead, or left; false where in doubt. */
	isDead(workerId: string): MaybePromise<boolean>;
}
