// The context of a new session and the options of an execution, as given and as resolved.
import type { AgentOptions } from "../agent/index.ts";
import type { Caller } from "../caller/index.ts";
import type { Watcher } from "../facts/index.ts";
import type { AgentRun } from "../sessions/index.ts";
import type { ChosenOptions } from "./read-input.ts";
import type { SessionSetup, StoredTool } from "./session-setup.ts";

/** The context of a new session. */
export interface SessionContext {
	/** Default: the one of all sessions. */
	readonly systemPrompt?: string | undefined;
	/** The history that it begins with, in the shape of `SessionMessage`; not trusted. */
	readonly messages: readonly unknown[];
	/** Tools in addition to those of all sessions. */
	readonly tools: readonly StoredTool[];
}

/** What an execution is asked to use. */
export interface ExecuteSettings {
	/** Options from this execution on. Default: those that the session has. */
	readonly options?: ChosenOptions;
	/** The model from this execution on, as an object instead of a name. Default: the session's current one. */
	readonly model?: AgentOptions["model"];
	/** The session's setup, if it was just read. */
	readonly setup?: SessionSetup | undefined;
	/** The session is new, and this execution creates it with `setup`, the result of `draft`. Default: it exists. */
	readonly isNew?: boolean | undefined;
	/** Id of the run that a message begins. Default: a new one. */
	readonly runId?: string | undefined;
	/**
	 * Of the messages with one key the first is accepted, and the others reject with `duplicate_input`, on every server.
	 * The session stores the key until it is deleted. Default: none.
	 */
	readonly dedupeKey?: string | undefined;
	/** Sees all events of the run, from the first one on. */
	readonly watcher?: Watcher | undefined;
	/** Id of the message. Default: a new one. */
	readonly messageId?: string | undefined;
	/**
	 * Id of a message of the user, whose place a message takes: that one and all that followed are taken out of the
	 * conversation. Its id stays. Default: the message follows what was said last.
	 */
	readonly insteadOf?: string | undefined;
	/** The requester; for answers, the answerer. Default: unknown. */
	readonly caller?: Caller | undefined;
}

/** A durably accepted execution. */
export interface Execution {
	readonly run: AgentRun;
	/** Events after this id are those of the execution. */
	readonly after: string;
	/** Settles when this process has ended or left the execution. */
	readonly over: Promise<unknown>;
	/** Set for answers to tasks in the background alone: `run` is a task's, and the session has no events of it. */
	readonly inBackground?: true;
}
