// The code of runs that wait, suspended in memory, so that a process that left a run continues it without running its code
// again (keeps I2, I7). Any of it may be dropped at any time: the code then runs again from its record.
//
// It is kept for as long as the folded state of its session is in memory, which the table of sessions limits: the key is
// the first record in that state. A state that is read again from the journal has other records.
import type { Replayer } from "../replayer/index.ts";
import type { List } from "../state/index.ts";
import type { FlowCall } from "./flow-call.ts";
import type { OpenWaits } from "./open-waits.ts";
import type { WorkflowRecord } from "./workflow-notes.ts";

/** Code that waits, and the records that it has received. */
export interface SuspendedCode {
	readonly replayer: Replayer<FlowCall>;
	readonly waits: OpenWaits;
	/** How many records were taken. */
	readonly read: number;
}

interface Kept {
	readonly records: List<WorkflowRecord>;
	readonly code: SuspendedCode;
}

export class SuspendedCodes {
	readonly #kept = new WeakMap<WorkflowRecord, Kept>();

	/** Keeps the code of the run with these records. */
	keep(records: List<WorkflowRecord>, code: SuspendedCode): void {
		const first = records.at(0);
		if (first !== undefined) this.#kept.set(first, { records, code });
	}

	/** Returns the code of the run with these records and stops keeping it; undefined if it must run again. */
	take(records: List<WorkflowRecord>): SuspendedCode | undefined {
		const first = records.at(0);
		const kept = first && this.#kept.get(first);
		if (first === undefined || kept === undefined) return undefined;
		this.#kept.delete(first);
		const { read } = kept.code;
		if (records.at(read - 1) !== kept.records.at(read - 1)) return undefined;
		// Another process that continued the run may have started steps that only it can follow.
		for (const { kind } of records.from(read)) if (kind !== "event" && kind !== "tool") return undefined;
		return kept.code;
	}
}
