// Finds runs in a journal's file by its indexes.
import type { RunIndex } from "../host/index.ts";
import type { Reading } from "./patient-reads.ts";
import type { Statements } from "./statements.ts";
import { fromStored, toStored } from "./stored-text.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** The journal parts that the index of runs needs. */
export interface RunsParts {
	readonly statements: Statements;
	readonly worker: WorkerRegistration;
	readonly reading: Reading;
}

/** Returns the runs of a journal. */
export function sqliteRuns({ statements, worker, reading }: RunsParts): RunIndex {
	return {
		locate: (runId) =>
			reading(() => {
				const stored = toStored(runId);
				const row = statements.locateRun.get(stored) as RunRow | undefined;
				if (row !== undefined) {
					const { first, ended } = row;
					return { place: fromStored(row.place), first, ...(ended === null ? {} : { ended }) };
				}
				const waiting = statements.locateWaiting.get(stored) as { place: string } | undefined;
				return waiting && { place: fromStored(waiting.place) };
			}, "several"),
		unfinishedRuns: () =>
			reading(() => (statements.unfinishedRuns.all() as { id: string }[]).map(({ id }) => fromStored(id))),
		isDead: (workerId) => reading(() => worker.isDead(toStored(workerId))),
	};
}

interface RunRow {
	readonly place: string;
	readonly first: number;
	readonly ended: number | null;
}
