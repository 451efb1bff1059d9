// Where a run has a record of its own, another writer in its session is one who has taken the run over.
import type { Recorder } from "../engine/run.ts";
import type { Lease } from "../journal/index.ts";
import { leaseLost } from "../journal/journal-errors.ts";

/** The lease as a run's recorder: once the run has begun, a conflict is a lost lease. */
export function fencedRecorder(lease: Lease): Recorder {
	let begun = false;
	return {
		inbox: () => lease.inbox(),
		async append(batch) {
			try {
				const appended = await lease.append(batch);
				begun = true;
				return appended;
			} catch (error) {
				const isConflict = (error as { code?: unknown } | undefined)?.code === "session_conflict";
				throw begun && isConflict ? leaseLost(lease.key) : error;
			}
		},
	};
}
