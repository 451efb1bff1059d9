// What a supervisor watches, and its options.
import type { Journal, Ports, WorkQueue } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";

/** Work that failed and will be retried. */
export interface WorkProblem {
	readonly error: unknown;
	/** The caller's key of the session; absent when the store could not be asked what is due. */
	readonly sessionKey?: string;
}

/** Options of one search for unfinished work. */
export interface RecoverOptions {
	/**
	 * Called with each session that could not be recovered; the others are. Default: the first such error is thrown when
	 * all were tried. Must not throw.
	 */
	readonly onProblem?: ((problem: WorkProblem) => void) | undefined;
}

/** Options of `supervise()`. */
export interface SuperviseOptions extends Pick<WorkOptions, "lookEveryMs"> {
	/**
	 * Called with work that could not be continued; it is tried again later, and less and less often. Default: a warning with
	 * the code `recovery_failed`, for which see `onWarning`. Must not throw.
	 */
	readonly onProblem?: ((problem: WorkProblem) => void) | undefined;
}

/** Options of `agent.work()`. */
export interface WorkOptions {
	/** Ends the work: nothing more starts. Running runs continue; `agent.close()` suspends them. */
	readonly signal?: AbortSignal | undefined;
	/**
	 * `stopped` (default): until the signal fires. `done`: until nothing is due and everything that was started has
	 * ended.
	 */
	readonly until?: "stopped" | "done" | undefined;
	/**
	 * The maximum number of runs in progress, beyond which nothing more starts. Default: no limit; 100 if the host hands
	 * out work, so that other processes get a share.
	 */
	readonly atOnce?: number | undefined;
	/**
	 * Milliseconds from one look at what is due to the next. Default 500. Shorter finds work earlier and costs more. Where the
	 * host hands out work by a queue nobody looks but at the beginning, and once in half a minute to be sure.
	 */
	readonly lookEveryMs?: number | undefined;
	/** Which sessions, by the caller's key, to work on. Default: all of the agent's. */
	readonly sessions?: ((sessionKey: string) => boolean) | undefined;
	/**
	 * Called with work that could not be started or was left open by a failure; it is retried later, and less and less
	 * often. Default: the work ends with that error. Must not throw.
	 */
	readonly onProblem?: ((problem: WorkProblem) => void) | undefined;
}

/** Hooks for a background worker. */
export interface WorkHooks {
	/** Called after each look at what is due, also after one that failed. */
	readonly onLook?: (() => void) | undefined;
}

/** A scheduled run that is due. */
export interface ScheduledRun {
	readonly runId: string;
	/** Of its session. */
	readonly storeKey: string;
	readonly collect?: () => Promise<void>;
}

/** Runs scheduled by a host. */
export interface ScheduledRuns {
	/** Those whose time has come. Of those with `collect` nothing is to be resumed: it deletes what is left of them. */
	due(): Promise<readonly ScheduledRun[]>;
	/** Null if another process has it, or it has ended. */
	resume(runId: string): Promise<AgentRun | null>;
	/** The run needs no further delivery if it has ended. */
	settle(runId: string): Promise<void>;
	/** Calls `notify` when there may be something new. Returns the way to stop. */
	watch(notify: () => void): () => void;
}

/** The sessions that a supervisor watches. */
export interface Supervised {
	readonly journal: Journal;
	readonly ports: Pick<Ports, "clock" | "timers">;
	/** Hands out what there is to do. Absent: it is looked for. */
	readonly queue?: WorkQueue | undefined;
	/** Journals of sub-agents that keep their sessions in another store. */
	elsewhere?(): readonly Journal[];
	/** Only those whose store key begins with this. Default: all. */
	readonly prefix?: string;
	/** The caller's key, of the session or of the one its work is for; undefined for sessions of others. */
	keyOf(storeKey: string): string | undefined;
	/** Resumes or starts the work of a session; null if there is none, or another process has it. */
	takeOver(storeKey: string): Promise<AgentRun | null>;
	/** Whether this process watches the time limits of that session's calls. */
	watchesDeadline(storeKey: string): boolean;
	/** Calls `notify` with each run that was resumed for another reason. Returns the way to stop. */
	onResumed?(notify: (run: AgentRun) => void): () => void;
	/** Finishes what dead processes left unfinished and no other look finds. Absent: there is no such work. */
	finishLeftOver?(when: "after-death" | "in-time"): Promise<void>;
	/** Absent: nothing is scheduled. */
	readonly scheduled?: ScheduledRuns | undefined;
}
