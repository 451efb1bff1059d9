// How a run is told in another protocol: a projection sees it from its beginning, and what comes out is told from a place
// on, each record under an id of its own, so that a reader resumes behind any of them.
import type { LoggedEvent } from "holdfast/execute";
import type { Projection } from "../exchange.ts";
import { compareEventIds } from "./event-id.ts";

/** What is told of a run. */
export interface ToldRun {
	readonly sessionId: string;
	/** The id behind which the run begins. */
	readonly after: string;
	/** The id of an event or of a record, behind which records are told. */
	readonly from: string;
	/** Whether it is told to the next end of an execution, or on over suspensions that somebody has ended. */
	readonly until: "next end" | "rest";
	/** What an event is in the other protocol. */
	readonly project: (logged: LoggedEvent) => readonly object[];
	/** Text before the records and behind them. */
	readonly opening?: string;
	readonly closing?: string;
}

/** The stream of a run. */
export function toldRun(told: ToldRun): Projection {
	const { sessionId, after, from, until, project, closing = "" } = told;
	let { opening = "" } = told;
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
			// A run that waits goes on when somebody answers; one that is over does not.
			if (until === "rest") return event.status !== "awaiting_tool_execution";
			return compareEventIds(id, from) > 0;
		},
		finish: () => (isWhole ? closing : undefined),
	};
}
