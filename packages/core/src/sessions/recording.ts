// The destination of a run's facts, and the additional records of them.
import type { Ledger, Recorder } from "../engine/index.ts";
import type { AcceptedInput, RunState } from "../facts/index.ts";
import { leaseLost } from "../facts/index.ts";
import type { Lease } from "../host/index.ts";
import type { SessionRecords } from "./session-records.ts";

export interface Recording {
	readonly recorder: Recorder;
	readonly ledger?: Ledger;
}

/** Returns the recorder of a run that is about to be driven, and its ledger if the host keeps records of such runs. */
export function recordingOf(
	records: SessionRecords,
	lease: Lease,
	{ runId, sessionKey }: { readonly runId: string; readonly sessionKey: string },
	{ runKind: kind = "user-turn", parent }: NonNullable<Partial<AcceptedInput["origin"]>> = {},
	before?: RunState,
): Recording {
	const said = before?.runId === runId ? before.assistant?.message.text : undefined;
	const about = { runId, sessionKey, kind, said };
	const ledger = records.ledger(parent === undefined ? about : { ...about, parentRunId: parent.runId });
	return ledger === undefined ? { recorder: lease } : { recorder: fenced(lease), ledger };
}

/** For a run with its own record: after the run has begun, any other writer in its session has taken it over. */
function fenced(lease: Lease): Recorder {
	let begun = false;
	return {
		inbox: () => lease.inbox(),
		check: () => lease.check?.(),
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
