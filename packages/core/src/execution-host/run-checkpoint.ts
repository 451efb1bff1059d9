// Checkpoints: the positions in a run at which work can continue after a crash. Each refers to a position in the
// session's journal and copies nothing of it (keeps I5).

/** The event before or after which a checkpoint was taken. */
export type CheckpointPhase =
	| "before-model"
	| "after-model"
	| "before-tool"
	| "after-tool"
	| "before-notification"
	| "after-notification"
	| "before-child-run"
	| "child-linked"
	| "suspended"
	/** Another process has resumed the run: from here on, writes of the previous one are refused. */
	| "resumed";

/** A position in a run. */
export interface RunPlace {
	readonly runId: string;
	/** The caller's key of its session. */
	readonly sessionKey: string;
	/** The point in the run. */
	readonly phase: CheckpointPhase;
	/** Seq of the last journal entry before this point. */
	readonly seq: number;
	/** In milliseconds since the epoch. */
	readonly at: number;
	/** The call, for phases around tools and child runs. */
	readonly toolCallId?: string;
	/** The child, for phases around child runs. */
	readonly childRunId?: string;
	/** The notification, for phases around it. */
	readonly notificationId?: string;
	/**
	 * The incarnation of the session that the notification is delivered to, and of no other. Set before a notification.
	 */
	readonly incarnation?: string;
	/** The ids that a suspended run waits for: tool calls, child runs, approvals. */
	readonly waitsFor?: readonly string[];
}

/** A stored checkpoint of a run. */
export interface Checkpoint extends Partial<Omit<RunPlace, "runId" | "phase">> {
	/** Identifies the checkpoint. */
	readonly checkpointId: string;
	/** The run that it belongs to. */
	readonly runId: string;
	/** Version within the run: 1 for the first, then incremented by 1. */
	readonly version: number;
	/** The point at which it was taken. */
	readonly phase: CheckpointPhase;
	/** The position of the run: opaque, JSON-safe. */
	readonly runtimeState: unknown;
	/** The position of its session: opaque, JSON-safe. A position in the journal, never a copy of it. */
	readonly sessionSnapshot: unknown;
	/** The call that is about to run. */
	readonly pendingToolCall?: unknown;
}

/** A checkpoint to store; its version is the expected one plus one, regardless of its own field. */
export type NewCheckpoint = Pick<Checkpoint, "runId" | "phase"> & Partial<Checkpoint>;

/** The version of the new checkpoint, or a conflict. */
export type AppendCheckpointResult =
	| { readonly ok: true; readonly version: number }
	| { readonly ok: false; readonly reason: "stale-version"; readonly currentVersion: number };

/** The checkpoints of an execution host's runs. */
export interface CheckpointStore {
	/**
	 * Appends a checkpoint after the one with `expectedVersion` (0: as the first one) and advances the run's
	 * `checkpointVersion`. Refused if that position is already taken.
	 */
	append(
		checkpoint: NewCheckpoint,
		options: { readonly expectedVersion: number },
	): Promise<AppendCheckpointResult>;
	/** Returns the last checkpoint of a run, or null. */
	latest(runId: string): Promise<Checkpoint | null>;
}

/** Creates the checkpoint of a position in a run. */
export function checkpointAt(place: RunPlace, version: number): Checkpoint {
	const { runId, sessionKey, phase, seq, at, toolCallId, waitsFor, incarnation } = place;
	return {
		...place,
		checkpointId: `${runId}.${version}`,
		version,
		runtimeState: { seq, at, ...(waitsFor === undefined ? {} : { waitsFor }) },
		sessionSnapshot: { sessionKey, seq, ...(incarnation === undefined ? {} : { incarnation }) },
		...(phase === "before-tool" && toolCallId !== undefined ? { pendingToolCall: { toolCallId } } : {}),
	};
}
