// What a session is made with, how an execution in it is asked for, and what that comes to.
import type { AgentOptions } from "../agent/index.ts";
import type { Caller } from "../caller/index.ts";
import type { Watcher } from "../facts/index.ts";
import type { AgentRun } from "../sessions/index.ts";
import type { ChosenOptions } from "./read-input.ts";
import type { SessionSetup, StoredTool } from "./session-setup.ts";

/** What a session is made with. */
export interface SessionContext {
	/** Default: the one of all sessions. */
	readonly systemPrompt?: string | undefined;
	/** The history that it begins with, in the shape of `SessionMessage`; not trusted. */
	readonly messages: readonly unknown[];
	/** Tools beside those of all sessions. */
	readonly tools: readonly StoredTool[];
}

/** How an execution is asked for. */
export interface ExecuteSettings {
	/** Options from this execution on. Default: those that the session has. */
	readonly options?: ChosenOptions;
	/** The model from this execution on, as it is and not by its name. Default: the one that the session has. */
	readonly model?: AgentOptions["model"];
	/** What the session keeps, where that was just read. */
	readonly setup?: SessionSetup | undefined;
	/** The session is new, and this execution makes it with `setup`: what `draft` gave. Default: it is there. */
	readonly isNew?: boolean | undefined;
	/** Id of the run that a message begins. Default: a new one. */
	readonly runId?: string | undefined;
	/**
	 * Of the messages under one key the first is accepted, and the others reject with `duplicate_input`, whatever server they
	 * reach. The session keeps it until it is deleted. Default: none.
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
	/** Who asks; of answers, who gives them. Default: that is not known. */
	readonly caller?: Caller | undefined;
}

/** An execution that was accepted: it is durable. */
export interface Execution {
	readonly run: AgentRun;
	/** Events after this id are those of the execution. */
	readonly after: string;
	/** Settles when this process has ended or left the execution. */
	readonly over: Promise<unknown>;
	/** Set for answers to tasks in the background alone: `run` is a task's, and the session has no events of it. */
	readonly inBackground?: true;
}
