// Projects a run to the records of another protocol. The projection receives the run from its beginning; only records
// after `from` are written. Each has an id of its own, so a reader can resume after any of them.
import type { LoggedEvent } from "holdfast/execute";
import type { Projection } from "../exchange.ts";
import { compareEventIds } from "./event-id.ts";

/** A run, and which part of it to write. */
export interface ProjectedRun {
	readonly sessionId: string;
	/** The id after which the run starts. */
	readonly after: string;
	/** Only records after this id, of an event or a record, are written. */
	readonly from: string;
	/**
	 * Stops at the next end of an execution; with "rest", after answered suspensions, when the run has ended or waits.
	 */
	readonly until: "next end" | "rest";
	/** Converts an event to the other protocol. */
	readonly project: (logged: LoggedEvent) => readonly object[];
	/** Text before the records and after them. */
	readonly opening?: string;
	readonly closing?: string;
}

/** Returns the stream of a run. */
export function projectedRun(run: ProjectedRun): Projection {
	const { sessionId, after, from, until, project, closing = "" } = run;
	let { opening = "" } = run;
	let isWhole = false;
	return {
		sessionId,
		after,
		until: until === "rest" ? "idle" : "never",
		write(events) {
			let text = opening;
			opening = "";
			for (const logged of events) {
				isWhole = logged.event.type === "execute_complete";
				for (const [part, record] of project(logged).entries()) {
					const id = `${logged.id}.${part}`;
					if (compareEventIds(id, from) > 0) text += `id: ${id}\ndata: ${JSON.stringify(record)}\n\n`;
				}
			}
			return text;
		},
		isLast({ id, event }) {
			if (event.type !== "execute_complete") return false;
			// A waiting run continues after an answer; an ended one does not.
			if (until === "rest") return event.status !== "awaiting_tool_execution";
			return compareEventIds(id, from) > 0;
		},
		finish: () => (isWhole ? closing : undefined),
	};
}
