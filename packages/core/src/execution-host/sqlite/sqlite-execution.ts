// The execution host of a journal's file: claims, notifications and schedules are records in it, turns are read from it.
import { uuid } from "@holdfast/upp";
import type { Journal } from "../../host/index.ts";
import type { SqliteRecords } from "../../sqlite/index.ts";
import type { OwnExecutionHost } from "../in-memory.ts";
import { recordScheduler } from "../record-scheduler.ts";
import { recordStore } from "../record-store.ts";
import { journalRecords } from "./journal-records.ts";

/** The execution host over a journal with records beside it, as one in a file has them. */
export function sqliteExecution(
	journal: Journal & { readonly records: SqliteRecords },
	clock: { now(): number } = { now: () => Date.now() },
	newId: () => string = uuid,
): OwnExecutionHost {
	const records = journalRecords(journal.records, journal);
	const { workerId } = journal;
	const workers = { ownId: workerId, isDead: (other: string) => journal.records.isDead(other) };
	const ports = { now: () => clock.now(), newId, workers };
	return {
		capabilities: { backgroundSubagents: "durable" },
		scheduler: recordScheduler(records, ports),
		store: recordStore(records, ports),
	};
}
