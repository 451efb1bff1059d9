// The emitted events of runs, separate from the session's state.
import type { AgentEvent } from "../facts/index.ts";

/** A position after an event of a run. */
export interface EventCursor {
	/** How many events of the run precede this position: the first event has offset 1. */
	readonly offset: number;
}

/** An event of a run with its cursor. */
export interface StoredRunEvent {
	/** The position after it. */
	readonly cursor: EventCursor;
	/** The event. */
	readonly event: AgentEvent;
	/** The run that emitted it. */
	readonly runId: string;
}

/** The events of runs, in order. */
export interface RunEventStore {
	/** Appends an event. Returns the cursor after it. */
	append(runId: string, event: AgentEvent): Promise<EventCursor>;
	/**
	 * Yields the events after a cursor, in the order they were added; only those that exist when it is read. Default:
	 * all.
	 */
	read(runId: string, cursor?: EventCursor): AsyncIterable<StoredRunEvent>;
}
