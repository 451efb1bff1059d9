// The context of a new session and the options of an execution, as given and as resolved.
import type { AgentOptions } from "../agent/index.ts";
import type { Caller } from "../caller/index.ts";
import type { Watcher } from "../facts/index.ts";
import type { AgentRun } from "../sessions/index.ts";
import type { ChosenOptions } from "./read-input.ts";
import type { SessionSetup, StoredTool } from "./session-setup.ts";

/** The context of a new session. */
export interface SessionContext {
	/** Default: the system prompt of all sessions. */
	readonly systemPrompt?: string | undefined;
	/** The initial history, in the form of `SessionMessage`; not trusted. */
	readonly messages: readonly unknown[];
	/** Tools in addition to those of all sessions. */
	readonly tools: readonly StoredTool[];
}

/** The settings of one execution. */
export interface ExecuteSettings {
	/** Options from this execution on. Default: the session's current options. */
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
	 * If several messages have the same key, the first is accepted, and the others reject with `duplicate_input`, on
	 * every server. The session stores the key until it is deleted. Default: none.
	 */
	readonly dedupeKey?: string | undefined;
	/** Receives all events of the run, from the first one on. */
	readonly watcher?: Watcher | undefined;
	/** Id of the message. Default: a new one. */
	readonly messageId?: string | undefined;
	/**
	 * Id of the user message that this message replaces: that message and all that follow are removed from the
	 * conversation. The new message keeps its id. Default: the message follows the last one.
	 */
	readonly insteadOf?: string | undefined;
	/** The requester; for answers, their sender. Default: unknown. */
	readonly caller?: Caller | undefined;
}

/** A durably accepted execution. */
export interface Execution {
	/** The accepted run. */
	readonly run: AgentRun;
	/** Events after this id are those of the execution. */
	readonly after: string;
	/** Settles when this process has finished or left the execution. */
	readonly over: Promise<unknown>;
	/** Set for answers that are only for background tasks: `run` is a task's run, and the session has no events of it. */
	readonly inBackground?: true;
}
