// The ordered events of a run, and their destinations.

/** The kinds of events of a run, in the order in which an iteration emits them. */
export type RunnerEventType =
	| "run.start"
	| "run.begin"
	| "step.start"
	| "model.start"
	| "model.tokens"
	| "model.end"
	| "plan"
	| "policy"
	| "tool.call"
	| "tool.result"
	| "reflect"
	| "memory"
	| "warning"
	| "error"
	/** An interrupted run is resumed: work in progress between two facts is not recorded. */
	| "run.resume"
	| "run.end";

/** An event of a run, redacted. `seq` starts at 1 and has no gaps. */
export interface RunnerEvent {
	/** The number of the event within its run. */
	readonly seq: number;
	/** The run in which it occurred. */
	readonly runId: string;
	/** The session of that run. */
	readonly sessionId: string;
	/** The kind of event. */
	readonly type: RunnerEventType;
	/** ISO 8601, UTC. */
	readonly time: string;
	/** Plain data. */
	readonly data?: unknown;
}

/** Receives every event. If it throws, the error becomes a warning of the run. */
export interface EventBus {
	/** Called with each event, in order. */
	emit(event: RunnerEvent): void | Promise<void>;
}

/** A stored event: each contains the hash of its predecessor. */
export interface StoredEvent extends RunnerEvent {
	/** SHA-256 in hexadecimal, over `previousHash` and the event. */
	readonly hash: string;
	/** The hash of the event before it; 64 zeros for the first. */
	readonly previousHash: string;
	/** HMAC-SHA-256 of `hash` in hexadecimal, if the store has a key. */
	readonly mac?: string;
}

/** The end of a record at some moment. Store it where anyone who can change the record cannot reach it. */
export interface RecordAnchor {
	/** The run that the record belongs to. */
	readonly runId: string;
	/** The number of its last event. */
	readonly seq: number;
	/** The hash of that event. */
	readonly hash: string;
	/** When the event occurred, in ISO 8601, UTC. */
	readonly time: string;
}

/** The verdict on a record. */
export type RecordVerdict =
	/** `keyed`: every event carries a code of the store's key; absent for a store without a key. */
	| { readonly ok: true; readonly keyed?: boolean }
	/** The first event that was changed after it was appended. */
	| { readonly ok: false; readonly seq: number };

/** Append-only: events cannot be changed or removed. */
export interface EventStore {
	/** Stores an event after the others of its run. If it rejects, the run gets a warning. */
	append(event: RunnerEvent): Promise<void>;
	/** Returns the events of a run, in order; an empty list for an unknown run. */
	read(runId: string): Promise<readonly StoredEvent[]>;
	/**
	 * Verifies that the events of a run are unchanged since they were appended; otherwise returns the first `seq` that
	 * is not. With anchors, it also verifies that the anchored events still exist.
	 */
	verify(runId: string, anchors?: readonly RecordAnchor[]): Promise<RecordVerdict>;
	/** Called if an event could not be appended: the record is incomplete. */
	markIncomplete?(runId: string): Promise<void>;
	/** Whether `markIncomplete` was called for the run. */
	isIncomplete?(runId: string): Promise<boolean>;
}
