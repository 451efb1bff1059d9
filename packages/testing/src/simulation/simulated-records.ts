// The records beside the journal as a process has them: what a host in a file keeps of claims, notifications and what is
// scheduled. One space for all processes; the state of a run is read from the store.

import type { MemoryJournal, RecordSpace, RecordWrite, RunIndex, RunLocation } from "holdfast/host";
import type { Ledger } from "./ledger.ts";
import type { Operation } from "./operations.ts";
import type { PlantedFault } from "./planted-faults.ts";
import type { Random } from "./random.ts";

/** What simulated records need. */
export interface SimulatedRecordsOptions {
	readonly operation: Operation;
	readonly space: RecordSpace;
	readonly store: MemoryJournal;
	readonly ledger: Ledger;
	readonly random: Random;
	readonly workerId: string;
	readonly planted: PlantedFault | undefined;
}

/** Records whose every answer is a step of the schedule. */
export function simulatedRecords(options: SimulatedRecordsOptions): RecordSpace & RunIndex {
	const { operation, space, store, ledger, random, workerId, planted } = options;
	const reads = { kind: "reads", answered: "mostly-at-once" } as const;

	function locate(runId: string): RunLocation | undefined {
		const place = ledger.lifeOfRun(runId)?.key;
		const entries = place === undefined ? [] : store.read(place);
		const own = entries.filter((entry) => entry.runId === runId && entry.fact.kind !== "folded");
		const first = own[0]?.seq;
		if (place !== undefined && first !== undefined) {
			const ended = own.find(({ fact }) => fact.kind === "run.ended")?.seq;
			return { place, first, ...(ended === undefined ? {} : { ended }) };
		}
		const waits = store
			.list()
			.find(({ key }) => store.inbox(key).some((input) => input.kind === "message" && input.runId === runId));
		return waits && { place: waits.key };
	}

	/** Writes as a planted fault leaves them. */
	function written(writes: readonly RecordWrite[]): readonly RecordWrite[] {
		if (planted !== "lost-schedule") return writes;
		return writes.filter(({ shelf }) => shelf !== "scheduled-runs" || random.chance(0.5));
	}

	return {
		get: (address) => operation(`reads a record of ${address.shelf}`, () => at(space.get(address)), reads),
		list: (shelf, list) => operation(`lists records of ${shelf}`, () => at(space.list(shelf, list)), reads),
		commit: (expected, writes) =>
			operation(
				`commits records of ${writes.map(({ shelf }) => shelf).join(", ")}`,
				() => at(space.commit(expected, written(writes))),
				{ kind: "writes" },
			),
		locate: (runId) => operation("looks for a run", () => locate(runId), reads),
		unfinishedRuns: () =>
			operation(
				"looks for unfinished runs",
				() => store.list().flatMap(({ openRunId = [] }) => openRunId),
				reads,
			),
		isDead: (other) =>
			operation(
				`asks whether ${other} is dead`,
				() => other !== workerId && store.isAlive(other) !== true,
				reads,
			),
	};
}

/** Records in memory answer at once; their port only says that they may. */
function at<T>(answer: T | Promise<T>): T {
	return answer as T;
}
