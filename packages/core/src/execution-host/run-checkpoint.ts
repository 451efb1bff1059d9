// Checkpoints: the places of a run where work can continue after a crash. Each refers to a position in the session's
// journal and copies nothing of it (keeps I5).

/** What was about to happen, or had just been committed, at a checkpoint. */
export type CheckpointPhase =
	| "before-model"
	| "after-model"
	| "before-tool"
	| "after-tool"
	| "before-notification"
	| "after-notification"
	| "before-child-run"
	| "child-run-linked"
	| "suspended"
	/** Another process has resumed the run: what the one before it writes is refused from here on. */
	| "resumed";

/** A checkpoint to be stored. */
export interface NewCheckpoint {
	readonly runId: string;
	readonly sessionKey: string;
	readonly phase: CheckpointPhase;
	/** Seq of the last journal entry that is at this point. */
	readonly seq: number;
	/** Milliseconds since the epoch. */
	readonly at: number;
	/** The call, for phases around tools and child runs. */
	readonly toolCallId?: string;
	/** The child, for phases around child runs. */
	readonly childRunId?: string;
	/** The notification, for phases around it. */
	readonly notificationId?: string;
	/** What a suspended run waits for: ids of tool calls, child runs, approvals. */
	readonly waitsFor?: readonly string[];
}

/** A checkpoint of a run as it is stored. */
export interface Checkpoint extends NewCheckpoint {
	/** From 1, by one more each time, within the run. */
	readonly version: number;
}

/** The version of the new checkpoint, or that it came too late. */
export type AppendCheckpointResult =
	| { readonly ok: true; readonly version: number }
	| { readonly ok: false; readonly reason: "stale-version" };

/** The checkpoints of an execution host's runs. */
export interface CheckpointStore {
	/**
	 * Adds a checkpoint after the one of `expectedVersion` (0: the first one) and moves the run's `checkpointVersion`.
	 * Refused when another one is there already.
	 */
	append(
		checkpoint: NewCheckpoint,
		options: { readonly expectedVersion: number },
	): Promise<AppendCheckpointResult>;
	latest(runId: string): Promise<Checkpoint | null>;
}
