// The records of a process: the claims, notifications and schedules that a file-based host stores. All processes share
// one space; the state of a run is read from the store.

import { after } from "@holdfast/upp";
import type {
	Entry,
	Journal,
	MaybePromise,
	RecordSpace,
	RecordWrite,
	RunIndex,
	RunLocation,
} from "holdfast/host";
import type { Ledger } from "./ledger.ts";
import type { Operation } from "./operations.ts";
import type { PlantedFault } from "./planted-faults.ts";
import type { Random } from "./random.ts";

/** The parts of simulated records. */
export interface SimulatedRecordsOptions {
	readonly operation: Operation;
	readonly space: RecordSpace;
	readonly store: Journal;
	readonly ledger: Ledger;
	readonly random: Random;
	readonly workerId: string;
	readonly planted: PlantedFault | undefined;
}

/** Creates records whose answers are steps of the schedule. */
export function simulatedRecords(options: SimulatedRecordsOptions): RecordSpace & RunIndex {
	const { operation, space, store, ledger, random, workerId, planted } = options;
	const reads = { kind: "reads", answered: "mostly-at-once" } as const;
	// Only the store in memory answers at once.
	const looks = store.name === "memory" ? reads : ({ kind: "reads" } as const);

	function locate(runId: string): MaybePromise<RunLocation | undefined> {
		const place = ledger.lifeOfRun(runId)?.key;
		return after(place === undefined ? [] : store.read(place), (entries) => locateIn(entries, place, runId));
	}

	function locateIn(
		entries: readonly Entry[],
		place: string | undefined,
		runId: string,
	): MaybePromise<RunLocation | undefined> {
		const own = entries.filter((entry) => entry.runId === runId && entry.fact.kind !== "folded");
		const first = own[0]?.seq;
		if (place !== undefined && first !== undefined) {
			const ended = own.find(({ fact }) => fact.kind === "run.ended")?.seq;
			return { place, first, ...(ended === undefined ? {} : { ended }) };
		}
		const inboxes = after(store.list(), (heads) =>
			all(heads.map(({ key }) => after(store.inbox(key), (inbox) => ({ place: key, inbox })))),
		);
		return after(inboxes, (every) => {
			const waits = every.find(({ inbox }) =>
				inbox.some((input) => input.kind === "message" && input.runId === runId),
			);
			return waits && { place: waits.place };
		});
	}

	/** Returns the writes as a planted fault changes them. */
	function written(writes: readonly RecordWrite[]): readonly RecordWrite[] {
		if (planted === "lost-schedule")
			return writes.filter(({ shelf }) => shelf !== "scheduled-runs" || random.chance(0.5));
		return planted === "reminded-by-namesake" ? writes.map(forAnySession) : writes;
	}

	return {
		get: (address) =>
			operation(`reads a record of ${named(address.shelf)}`, () => at(space.get(address)), reads),
		list: (shelf, list) =>
			operation(`lists records of ${named(shelf)}`, () => at(space.list(shelf, list)), reads),
		commit: (expected, writes) =>
			operation(
				`commits records of ${writes.map(({ shelf }) => named(shelf)).join(", ")}`,
				() => at(space.commit(expected, written(writes))),
				{ kind: "writes" },
			),
		locate: (runId) => operation("looks for a run", () => locate(runId), looks),
		unfinishedRuns: () =>
			operation(
				"looks for unfinished runs",
				() => after(store.list(), (heads) => heads.flatMap(({ openRunId = [] }) => openRunId)),
				looks,
			),
		isDead: (other) =>
			operation(
				`asks whether ${other} is dead`,
				() => other !== workerId && after(store.isAlive(other), (alive) => alive !== true),
				looks,
			),
	};
}

/** Addresses a notification to any session with the key. */
function forAnySession(write: RecordWrite): RecordWrite {
	if (write.shelf !== "notifications") return write;
	const { incarnation: _, ...value } = write.value as { readonly incarnation?: string };
	return { ...write, value };
}

/** Records in memory answer at once, although their port allows promises. */
function at<T>(answer: T | Promise<T>): T {
	return answer as T;
}

/** Collects all answers, synchronously if all are available. */
function all<T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
	return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as readonly T[]);
}

/** Returns a shelf's name for traces, without the incarnation, which differs between replays. */
function named(shelf: string): string {
	return shelf.replace(/^(notifications of) .*$/, "$1 a session");
}
