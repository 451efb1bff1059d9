// The work that a supervisor watches, and its options.
import type { Journal, Ports, WorkQueue } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";

/** Work that failed and will be retried. */
export interface WorkProblem {
	/** The thrown value. */
	readonly error: unknown;
	/** The caller's key of the session; absent if the store could not return the due work. */
	readonly sessionKey?: string;
}

/** Options of one search for unfinished work. */
export interface RecoverOptions {
	/**
	 * Called with each session that could not be recovered; the others still are. Default: the first such error is thrown
	 * after all were tried. Must not throw.
	 */
	readonly onProblem?: ((problem: WorkProblem) => void) | undefined;
}

/** Options of `supervise()`. */
export interface SuperviseOptions extends Pick<WorkOptions, "lookEveryMs"> {
	/**
	 * Called with work that could not be continued; it is retried at growing intervals. Default: a warning with the code
	 * `recovery_failed`, see `onWarning`. Must not throw.
	 */
	readonly onProblem?: ((problem: WorkProblem) => void) | undefined;
}

/** Options of `agent.work()`. */
export interface WorkOptions {
	/** Ends the work: nothing more starts. Running runs continue; `agent.close()` suspends them. */
	readonly signal?: AbortSignal | undefined;
	/** `stopped` (default): until the signal fires. `done`: until nothing is due and all started work has ended. */
	readonly until?: "stopped" | "done" | undefined;
	/**
	 * The maximum number of runs in progress; at the limit, nothing more starts. Default: no limit; 100 if the host hands
	 * out work, so that other processes get a share.
	 */
	readonly atOnce?: number | undefined;
	/**
	 * Milliseconds between searches for due work. Default 500. A lower value finds work earlier and costs more. If the
	 * host hands out work by a queue, it is only searched for at the start, and every 30 seconds as a safeguard.
	 */
	readonly lookEveryMs?: number | undefined;
	/** Selects the sessions to work on by the caller's key. Default: all of the agent's. */
	readonly sessions?: ((sessionKey: string) => boolean) | undefined;
	/**
	 * Called with work that could not be started or that a failure left open; it is retried at growing intervals.
	 * Default: the work ends with that error. Must not throw.
	 */
	readonly onProblem?: ((problem: WorkProblem) => void) | undefined;
}

/** Hooks for a background worker. */
export interface WorkHooks {
	/** Called after each search for due work, even if it failed. */
	readonly onLook?: (() => void) | undefined;
}

/** A scheduled run that is due. */
export interface ScheduledRun {
	readonly runId: string;
	/** The store key of its session. */
	readonly storeKey: string;
	readonly collect?: () => Promise<void>;
}

/** Runs scheduled by a host. */
export interface ScheduledRuns {
	/** Returns the due runs. Runs with `collect` are not resumed: only their remaining data is deleted. */
	due(): Promise<readonly ScheduledRun[]>;
	/** Returns null if another process has the run or it has ended. */
	resume(runId: string): Promise<AgentRun | null>;
	/** Marks the run as needing no further delivery if it has ended. */
	settle(runId: string): Promise<void>;
	/** Calls `notify` when there may be new work. Returns a function that stops this. */
	watch(notify: () => void): () => void;
}

/** The sessions that a supervisor watches. */
export interface Supervised {
	readonly journal: Journal;
	readonly ports: Pick<Ports, "clock" | "timers">;
	/** Hands out work. Absent: work is found by scanning. */
	readonly queue?: WorkQueue | undefined;
	/** Returns the journals of sub-agents that keep their sessions in another store. */
	elsewhere?(): readonly Journal[];
	/** Limits the work to store keys with this prefix. Default: all. */
	readonly prefix?: string;
	/**
	 * Returns the caller's key of the session, or of the session that its work is for; undefined for others' sessions.
	 */
	keyOf(storeKey: string): string | undefined;
	/** Resumes or starts the work of a session; returns null if no work is left or another process has it. */
	takeOver(storeKey: string): Promise<AgentRun | null>;
	/** Whether this process watches the time limits of that session's calls. */
	watchesDeadline(storeKey: string): boolean;
	/** Calls `notify` with each run that was resumed for another reason. Returns a function that stops this. */
	onResumed?(notify: (run: AgentRun) => void): () => void;
	/** Finishes work of dead processes that no other search finds. Absent: there is no such work. */
	finishLeftOver?(when: "after-death" | "in-time"): Promise<void>;
	/** Absent: nothing is scheduled. */
	readonly scheduled?: ScheduledRuns | undefined;
}
