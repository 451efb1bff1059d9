// Records kept in addition to the journal while a run is in progress. They are committed before any event is emitted
// (keeps I3).
import type { Fact, RunEvent } from "../facts/index.ts";

/** A notable point of a run that has no fact of its own. */
export interface Mark {
	readonly phase: "before-model" | "before-child-run" | "child-linked";
	readonly toolCallId?: string;
	readonly childRunId?: string;
}

/** A fact and its position. */
export interface CommittedFact {
	readonly seq: number;
	readonly fact: Fact;
}

/** Keeps records of one run. A rejection counts as a refused commit: the run stays open to be resumed. */
export interface Ledger {
	/** Receives committed facts. Their events are emitted when this settles. */
	committed(facts: readonly CommittedFact[], events: readonly RunEvent[]): Promise<void>;
	/** Receives a mark. The run continues when this settles. `seq` is that of the last entry. */
	mark(mark: Mark, seq: number): Promise<void>;
	/** An event without an entry of its own was emitted. Must not throw. */
	notify(event: RunEvent): void;
	/** Calls `notify`, once, when another process has taken over the run. */
	whenLost(notify: () => void): void;
	/** The run is no longer driven: it has ended or was left open. */
	close(): void;
}
