// What a runner says of a run: ordered events, and where they go.

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
	/** The run was left and is resumed: what was under way between two facts is not on record. */
	| "run.resume"
	| "run.end";

/** Something that happened in a run, redacted. `seq` begins with 1 and has no gaps. */
export interface RunnerEvent {
	readonly seq: number;
	readonly runId: string;
	readonly sessionId: string;
	readonly type: RunnerEventType;
	/** ISO 8601, UTC. */
	readonly time: string;
	/** Plain data. */
	readonly data?: unknown;
}

/** Hears every event. What it throws is a warning of the run. */
export interface EventBus {
	emit(event: RunnerEvent): void | Promise<void>;
}

/** An event as it is kept: each carries the hash of the one before. */
export interface StoredEvent extends RunnerEvent {
	/** SHA-256 in hexadecimal, over `previousHash` and the event. */
	readonly hash: string;
	readonly previousHash: string;
	/** HMAC-SHA-256 of `hash` in hexadecimal, where the store has a key. */
	readonly mac?: string;
}

/** The end of a record at some moment, to be kept where whoever can change the record cannot. */
export interface RecordAnchor {
	readonly runId: string;
	readonly seq: number;
	readonly hash: string;
	/** ISO 8601, UTC, of the event. */
	readonly time: string;
}

/** What can be said of a record. */
export type RecordVerdict =
	/** `keyed`: every event carries a code of the store's key; absent for a store without a key. */
	| { readonly ok: true; readonly keyed?: boolean }
	/** The first event that is not as it was appended. */
	| { readonly ok: false; readonly seq: number };

/** Append-only: there is no way to change or remove an event. */
export interface EventStore {
	append(event: RunnerEvent): Promise<void>;
	read(runId: string): Promise<readonly StoredEvent[]>;
	/**
	 * Whether the events of a run are as they were appended; else the first `seq` that is not. With anchors, also whether the
	 * record still has the events that were anchored.
	 */
	verify(runId: string, anchors?: readonly RecordAnchor[]): Promise<RecordVerdict>;
	/** An event could not be appended: the record is incomplete. */
	markIncomplete?(runId: string): Promise<void>;
	isIncomplete?(runId: string): Promise<boolean>;
}
