// The execution host of a journal's file: claims, notifications and schedules are records in it, turns are read from it.
import { uuid } from "@holdfast/upp";
import type { SqliteJournal } from "../../journal/sqlite/sqlite-journal.ts";
import type { OwnExecutionHost } from "../in-memory.ts";
import { recordScheduler } from "../record-scheduler.ts";
import { recordStore } from "../record-store.ts";
import { journalRecords } from "./journal-records.ts";

/** The execution host over a journal in a file. */
export function sqliteExecution(
	journal: SqliteJournal,
	clock: { now(): number } = { now: () => Date.now() },
): OwnExecutionHost {
	const records = journalRecords(journal.records, journal);
	const { workerId } = journal;
	const workers = { ownId: workerId, isDead: (other: string) => journal.records.isDead(other) };
	const ports = { now: () => clock.now(), newId: uuid, workers };
	return {
		capabilities: { backgroundSubagents: "durable" },
		scheduler: recordScheduler(records, ports),
		store: recordStore(records, ports),
	};
}
