// The execution host over a journal: claims, notifications and schedules are separate records; turns are read from the
// journal.
import { checkOptions, optionNames, uuid } from "@holdfast/upp";
import type { Host } from "../../host/index.ts";
import type { OwnExecutionHost } from "../in-memory.ts";
import { recordScheduler } from "../record-scheduler.ts";
import { recordStore } from "../record-store.ts";
import { journalRecords } from "./journal-records.ts";

/** The parts of an execution host. */
export interface JournalExecutionOptions
	extends Required<Pick<Host, "journal" | "records" | "runs" | "capabilities">> {
	/** The clock for claims and schedules, in milliseconds since the epoch. Default: the system's. */
	readonly clock?: { now(): number } | undefined;
	/** Generates ids of claims. Default: random UUIDs. */
	readonly newId?: () => string;
}

const journalExecutionNames = optionNames<JournalExecutionOptions>({
	journal: "object",
	records: "object",
	runs: "object",
	capabilities: "object",
	clock: "object",
	newId: "function",
});

/** Creates the execution host over a host that has records, and an index of the runs in its journal. */
export function journalExecution(options: JournalExecutionOptions): OwnExecutionHost {
	checkOptions(options, journalExecutionNames, { of: "journalExecution()" });
	const {
		journal,
		records: space,
		runs,
		capabilities,
		clock = { now: () => Date.now() },
		newId = uuid,
	} = options;
	const records = journalRecords(space, runs, journal);
	const workers = { ownId: journal.workerId, isDead: (other: string) => runs.isDead(other) };
	const ports = { now: () => clock.now(), newId, workers };
	return {
		capabilities,
		scheduler: recordScheduler(records, ports),
		store: recordStore(records, ports),
	};
}
