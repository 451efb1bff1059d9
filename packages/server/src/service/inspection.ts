// The operations of operators on a service, in addition to those of its clients: entries of journals, the agent of a
// session's turns, forks, and parked runs. As elsewhere, an owner sees only its own sessions (keeps I9).

import type { ChosenOptions, PendingSessionCall, SessionAgentInfo, SessionTrial } from "holdfast/execute";
import type { Entry } from "holdfast/host";
import type { SkillInfo } from "holdfast/plugins";
import type { ServedCaller, SessionOwner } from "./served-key.ts";

/** A summary of a session from its journal. */
export interface InspectedHead {
	readonly sessionId: string;
	/** A new value for each incarnation of the session. */
	readonly incarnation: string;
	/** Seq of the last entry; 0 if the journal is empty. */
	readonly seq: number;
	/** Milliseconds since the epoch. */
	readonly createdAt: number;
	/** Milliseconds since the epoch. */
	readonly updatedAt: number;
	/** The run that was started and has not ended. */
	readonly openRunId?: string;
	/** The run does not continue until it is released. */
	readonly parked?: true;
	/** Whether the worker that holds the open run is alive; absent if no worker holds it. */
	readonly isHeld?: boolean;
	/** Inputs in the inbox. */
	readonly waiting: number;
	/** Name of the agent that works on it; absent if all sessions have the same. */
	readonly agent?: string;
	/** The user that it belongs to; absent if it is not known. */
	readonly user?: string;
	/** The code of the error if the session's record is damaged: then only its id and times are known. */
	readonly unreadable?: string;
}

/** The session of a sub-agent. */
export interface InspectedChild extends Omit<InspectedHead, "sessionId"> {
	/** Identifies the child session in `entries`; opaque. */
	readonly child: string;
	/** Its id, if it can be inspected as a session. */
	readonly sessionId?: string;
	/** The child session it belongs to; absent if it belongs to the session itself. */
	readonly parent?: string;
	/** Name of the sub-agent. */
	readonly subagent: string;
}

/** Which entries to read. */
export interface InspectedEntriesOptions {
	/** Only entries after this seq. Default 0. */
	readonly after?: number;
	/** Maximum number of entries, 1 to 1,000. Default 1,000. Long entries end a page earlier. */
	readonly limit?: number;
	/** Name of a child session to read. Default: the session itself. */
	readonly child?: string | undefined;
}

/** How a session is forked. */
export interface InspectedFork {
	/** Id of the new session. */
	readonly to: string;
	/**
	 * The end of the run with this id, or the entry with this seq; 0 starts the session without any messages. Default:
	 * the last run that ended.
	 */
	readonly at?: string | number | undefined;
	/** Options after the fork. Default: those of the session. */
	readonly options?: ChosenOptions;
	/** Instructions after the fork. Default: those of the session. */
	readonly systemPrompt?: string | undefined;
}

/** Sessions that changed. */
export interface InspectedChanges {
	/** Pass it as `after` next time. */
	readonly position: number;
	/** Ids of the sessions that changed, without duplicates; includes those whose sub-agents worked. */
	readonly changed: readonly string[];
	/** Ids of the sessions that were deleted. */
	readonly deleted: readonly string[];
}

/** Inspection of a service's sessions. It reveals the agent's instructions and the providers' messages. */
export interface SessionInspection {
	/** The kind of the sessions for their clients, which determines the public routes for actions. Default: sessions. */
	readonly kind?: "sessions" | "threads";
	/** Names of the models for a fork in addition to the agent's own; absent if they cannot be listed. */
	readonly models?: readonly string[];
	/** The skills of the agent, as its plugins list them. Absent if they cannot be listed. */
	skills?(): Promise<readonly SkillInfo[]>;
	/** Sessions in the order of their ids, at most 1,000 at a time. */
	heads(
		owner: string | SessionOwner,
		options?: { readonly after?: string | undefined; readonly limit?: number },
	): Promise<readonly InspectedHead[]>;
	/** Undefined if this owner has no such session. */
	head(owner: string | SessionOwner, sessionId: string): Promise<InspectedHead | undefined>;
	/**
	 * Returns a page of entries, bounded by their number and by their size. To continue, read after the last one until none
	 * is returned. Rejects with `session_not_found`; with `events_expired` if the next entries were folded.
	 */
	entries(
		owner: string | SessionOwner,
		sessionId: string,
		options?: InspectedEntriesOptions,
	): Promise<readonly Entry[]>;
	/** The sessions of its sub-agents, including nested ones, at most 500. Rejects with `session_not_found`. */
	children(owner: string | SessionOwner, sessionId: string): Promise<readonly InspectedChild[]>;
	/** The waiting calls of its background tasks. Absent if there are no such tasks. Rejects with `session_not_found`. */
	backgroundCalls?(owner: string | SessionOwner, sessionId: string): Promise<readonly PendingSessionCall[]>;
	/** Where it was forked from; undefined if it was not forked. Rejects with `session_not_found`. */
	origin(
		owner: string | SessionOwner,
		sessionId: string,
	): Promise<{ readonly sessionId: string; readonly seq: number } | undefined>;
	/** Its existing forks, at most 500. Rejects with `session_not_found`. */
	forks(
		owner: string | SessionOwner,
		sessionId: string,
	): Promise<readonly { readonly sessionId: string; readonly seq: number }[]>;
	/**
	 * Masks secrets that only this session has, such as values of its environment. Absent if sessions have no such
	 * secrets.
	 */
	maskOf?(owner: string | SessionOwner, sessionId: string): Promise<<Value>(value: Value) => Value>;
	/** Returns the agent of its next turn. Rejects with `session_not_found`, `unknown_model`. */
	agent(caller: string | ServedCaller, sessionId: string): Promise<SessionAgentInfo>;
	/**
	 * Returns the agent of its next turn, to try its models and tools without a run. Absent if this is not supported.
	 * Rejects as `agent` does.
	 */
	trial?(caller: string | ServedCaller, sessionId: string): Promise<SessionTrial>;
	/**
	 * Creates a session that starts with the settled history of another. Rejects with `session_not_found`,
	 * `session_exists`, `fork_unsettled`, `run_not_found`, `unknown_model`.
	 */
	fork(
		caller: string | ServedCaller,
		sessionId: string,
		how: InspectedFork,
	): Promise<{ readonly seq: number }>;
	/**
	 * Continues its run, even a parked one; false if there is nothing to continue. Rejects with `session_not_found`,
	 * `session_held`.
	 */
	release(owner: string | SessionOwner, sessionId: string): Promise<{ readonly released: boolean }>;
	/**
	 * Sends a message to the current run, regardless of `whileRunning`. Rejects with `session_not_found`,
	 * `invalid_input`.
	 */
	steer(
		caller: string | ServedCaller,
		sessionId: string,
		input: unknown,
	): Promise<{ readonly sessionId: string; readonly runId: string; readonly after: string }>;
	/**
	 * Returns the changes after a position, or from now on: waits for the first one, or for the signal, which returns
	 * none. Absent if the store keeps no changes. Rejects with `changes_expired`.
	 */
	changes?(
		owner: string | SessionOwner,
		options: { readonly after?: number | undefined; readonly signal: AbortSignal },
	): Promise<InspectedChanges>;
}
