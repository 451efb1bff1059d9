// The types of a session service: its options, requests and answers.
import { type KnownOptions, optionNames } from "@holdfast/upp";
import type { AgentOptions, AgentRun, Host, SessionMessage } from "holdfast";
import type {
	LoggedEvent,
	PendingSessionCall,
	RunObserver,
	SessionStatus,
	SessionWait,
	TurnOptions,
} from "holdfast/execute";
import type { Recovery, StoreStats } from "holdfast/host";
import type {
	DrainOptions,
	FollowOptions,
	RecoverOptions,
	SuperviseOptions,
	WorkOptions,
} from "holdfast/types";
import type { SessionInspection } from "./inspection.ts";
import type { ServedCaller, SessionOwner } from "./served-key.ts";

/**
 * A field that clients may be allowed to set. `prompt`: the system prompt of a new session. `history`: the messages it
 * starts with. `tools`: tools that the client executes. `model`: the model, by a name that the service has registered.
 * `options`: temperature and maxTokens.
 */
export type ClientField = "prompt" | "history" | "tools" | "model" | "options";

/** Options for what clients may send. */
export interface ClientFieldOptions {
	/**
	 * Fields that clients may set in addition to their input. Each listed field is open to every client that may call.
	 * Default: none.
	 */
	readonly clientsMaySet?: readonly ClientField[];
	/**
	 * `bring-context`: clients define the sessions that they open. A new session requires a `context`, clients may set
	 * every field of `clientsMaySet`, and JSON is also accepted with the content type `text/plain`, which `fetch` sends
	 * for a string. Only for clients that you trust as much as your own code. Default: clients send their input, and the
	 * server defines the session.
	 */
	readonly clients?: "bring-context";
	/** Maximum number of messages in the history of a new session, and of answers in an input. Default 1,000. */
	readonly maxMessages?: number;
	/** Maximum number of tools that a client may give a session. Default 100. */
	readonly maxTools?: number;
}

/** A client's request to execute something. None of it is trusted. */
export interface ExecuteRequest {
	/** A user's message, or answers to pending tool calls. */
	readonly input: unknown;
	/** For a new session; ignored if the session exists. */
	readonly context?: unknown;
	/** The options of the execution, such as the model's name. Default: those of the session. */
	readonly options?: unknown;
	/** Id of the message. Default, and if the session already has a message with that id: a new one. */
	readonly messageId?: string;
	/**
	 * Id of a user message that this message replaces: that message and all later ones are removed from the conversation,
	 * and the id stays. Default: the message is appended to the conversation.
	 */
	readonly insteadOf?: string;
	/** The message waits for the current run if it would otherwise steer it. */
	readonly neverSteers?: true;
	/**
	 * How to treat a message while a run waits for answers to its calls. `refuse` (the default): it is refused with
	 * `pending_tool_calls`. `queue`: it is executed after that run.
	 */
	readonly whilePending?: "refuse" | "queue";
	/** The id of the session was just generated: it is not looked up first, but found if it exists. */
	readonly isNew?: true;
}

/** Options for following a session of a service. */
export interface ServedFollowOptions extends FollowOptions {
	/** The session is known to exist, so it is not looked up. Default: it is looked up. */
	readonly isKnown?: boolean;
	/**
	 * Called before each batch with the incarnation that the batch belongs to: after a deletion, another session may be
	 * created under the same id. A service that never calls it is assumed to have one session per id.
	 */
	readonly reads?: (incarnation: string | undefined) => void;
}

/**
 * How to treat a message during a run. `queue`: it is executed after that run. `steer`: it enters that run. `refuse`: it
 * is refused with `session_busy`.
 */
export type WhileRunning = "queue" | "steer" | "refuse";
/** A session whose turn is about to start, and the caller who requested it. */
export interface TurnOfSession extends ServedCaller {
	readonly sessionId: string;
}

/** A run of a session. */
export interface ServedRun extends SessionOwner {
	readonly sessionId: string;
	readonly runId: string;
}

/** Models by name, or a function that returns the model with a name, or undefined. */
export type NamedModels =
	| Readonly<Record<string, NonNullable<AgentOptions["model"]>>>
	| ((name: string) => AgentOptions["model"] | Promise<AgentOptions["model"]>);

/** Options of `sessionService`. */
export interface SessionServiceOptions extends ClientFieldOptions {
	/** The host that stores the sessions: `sqliteHost(path)`, or `memoryHost()` for sessions that need not survive. */
	readonly host: Host;
	/** The common options of all sessions' agents: model, system prompt, tools, prices and so on. */
	readonly agent: AgentOptions;
	/**
	 * Returns the options that replace those of `agent` in a turn: by tenant, user or claims. Called when a session is
	 * created, before each turn and when a run is resumed, in the last case with the recorded caller; without claims for
	 * reading. Return the same object for the same agent, because each new one is prepared again. Default: all sessions
	 * have the same agent.
	 */
	readonly agentFor?: (turn: TurnOfSession) => TurnOptions | undefined | Promise<TurnOptions | undefined>;
	/**
	 * The owner of a session. `user` (the default): the user who created it; other users of the tenant do not see it and
	 * can use its id. `tenant`: all users of a tenant share its sessions. After a change, earlier sessions are no longer
	 * found.
	 */
	readonly sessionsOf?: "user" | "tenant";
	/**
	 * Converts an error of a run for clients, by its code: for errors of your own policy, tools or hooks that end runs.
	 * Messages of providers and other sources are never shown unless this returns them. Default: the server's own
	 * texts.
	 */
	readonly shownError?: (error: { readonly code: string; readonly message: string }) => string | undefined;
	/**
	 * The models that clients and forks may choose, by name; or a function that returns the model for a name, which keeps
	 * the names private. Default: only the agent's own model, by its id.
	 */
	readonly models?: NamedModels;
	/** Maximum number of steps of an execution, across all its suspensions. Default: no limit. */
	readonly maxSteps?: number;
	/** Milliseconds that clients have for the result of a remote tool. Default: no limit. Approvals never expire. */
	readonly remoteToolTimeoutMs?: number;
	/** How to treat a message that arrives during a run. Default `queue`. */
	readonly whileRunning?: WhileRunning;
	/**
	 * Milliseconds for which deltas are gathered before they are committed and emitted. A lower value emits them earlier;
	 * a higher one makes fewer commits. Default 20.
	 */
	readonly deltaFlushMs?: number;
	/** Milliseconds between two checks for runs that a dead process left. Default 500. */
	readonly recoverEveryMs?: number;
}

/** The names of its options. */
export const sessionServiceNames: KnownOptions = optionNames<SessionServiceOptions>({
	host: true,
	agent: true,
	agentFor: "function",
	sessionsOf: ["user", "tenant"],
	shownError: "function",
	models: true,
	maxSteps: true,
	remoteToolTimeoutMs: true,
	whileRunning: ["queue", "steer", "refuse"],
	deltaFlushMs: true,
	recoverEveryMs: true,
	clientsMaySet: true,
	clients: ["bring-context"],
	maxMessages: true,
	maxTools: true,
});

/** An execution that was accepted and is durable. */
export interface Submitted {
	readonly sessionId: string;
	readonly runId: string;
	/** The execution's events come after this id, starting with its `session_start`. */
	readonly after: string;
	/** Whether the session is new. */
	readonly created: boolean;
	/** Whether the same request was accepted before, under the same idempotency key. */
	readonly attached: boolean;
	/** Settles when this process has finished or left the execution. Absent if it is not known to work on it. */
	readonly over?: Promise<unknown>;
	/** Set for answers that only go to background tasks: the session has no events about their outcome. */
	readonly inBackground?: true;
	/**
	 * Set if the message waits for a current run. Resolves when the message is accepted, with the id after which its
	 * events start; undefined if it never will be, because the session was deleted or killed. The signal ends the wait.
	 */
	readonly begun?: (signal: AbortSignal) => Promise<string | undefined>;
	/** The value that `whenBegun` needs to wait in another process. Set together with `begun`. */
	readonly waitsFor?: string;
}

/** A session as its clients see it. */
export interface SessionInfo {
	readonly sessionId: string;
	/** The state of the session. */
	readonly status: SessionStatus;
	/** The whole conversation. */
	readonly messages: readonly SessionMessage[];
	/** US dollars of all answers with a known price. */
	readonly totalCost: number;
	/** The calls that the session waits for; absent if it waits for no call. */
	readonly pendingToolCalls?: readonly PendingSessionCall[];
	/** Waiting calls of background tasks. The session does not wait for them. Absent if no call waits. */
	readonly backgroundToolCalls?: readonly PendingSessionCall[];
	/** The reason why the current run waits, other than answers to its calls. */
	readonly waiting?: SessionWait;
	/** The model of the last answer, otherwise that of the next one. */
	readonly model: string;
	/** Id of the last event; absent before the first. */
	readonly lastEventId?: string;
	/** The last run; events after `after` are its own, across all its suspensions. Absent before the first. */
	readonly lastRun?: { readonly runId: string; readonly after: string };
	/** The value that the code of a workflow published last with `flow.state()`. Absent without any. */
	readonly workflowState?: unknown;
}

/** A session in a list. */
export interface SessionSummary {
	readonly sessionId: string;
	/** Milliseconds since the epoch. */
	readonly createdAt: number;
	/** Milliseconds since the epoch. */
	readonly updatedAt: number;
	/** Whether a run is in flight or waits. */
	readonly isOpen: boolean;
}

/** A page of sessions; `next` is the start of the following one. */
export interface SessionPage {
	/** The sessions, in the order of their ids. */
	readonly sessions: readonly SessionSummary[];
	/** Pass it as `after` for the next page; absent on the last one. */
	readonly next?: string;
}

/**
 * Sessions served to others. Every call names the owner; a name alone is that of a tenant and finds the sessions that
 * belong to no user.
 */
export interface SessionService {
	/** How clients open sessions, as in the options. Absent: they send their input only. */
	readonly clients?: "bring-context";
	/**
	 * Accepts an execution; durable when it resolves.
	 *
	 * Rejects with `field_not_allowed`, `too_many_messages`, `too_many_tools`, `invalid_input`, `forbidden_option`, `unknown_model`,
	 * `unknown_message`, `context_required`, `tool_name_conflict`,
	 * `session_busy`, `pending_tool_calls`, `no_pending_tool_calls`, `unknown_tool_call_id`, `tool_call_settled`,
	 * `duplicate_input`, `duplicate_tool_result`, `tool_result_conflict`, `tool_result_expired`, `idempotency_key_reused`, `agent_closed`.
	 */
	submit(
		caller: string | ServedCaller,
		sessionId: string,
		request: ExecuteRequest,
		options?: { readonly idempotencyKey?: string },
	): Promise<Submitted>;
	/** Undefined if this owner has no such session. */
	get(owner: string | SessionOwner, sessionId: string): Promise<SessionInfo | undefined>;
	/** Sessions of an owner in the order of their ids. At most 100 at a time, 50 by default. */
	list(
		owner: string | SessionOwner,
		options?: { readonly after?: string; readonly limit?: number },
	): Promise<SessionPage>;
	/**
	 * Events of a session in bounded batches; one empty batch marks the point after which events are live. Its iterator
	 * rejects with `session_not_found`, `invalid_event_id`, `events_expired`, and ends at once when the reader leaves or
	 * the signal fires.
	 */
	follow(
		owner: string | SessionOwner,
		sessionId: string,
		options?: ServedFollowOptions,
	): AsyncIterable<readonly LoggedEvent[]>;
	/**
	 * False if resources opened by a request are usable only during that request, as in Workers. Each request then
	 * follows the session separately, and neither runs nor streams are counted. Default: all watchers of a session
	 * share one reader.
	 */
	readonly sharesFollowing?: boolean;
	/** Ends the run that is in flight or waits. Rejects with `session_not_found`. */
	stop(owner: string | SessionOwner, sessionId: string): Promise<{ readonly stopped: boolean }>;
	/**
	 * Stops a session's activity and removes all of it, including the sessions of its sub-agents. Its followers receive
	 * nothing more. Rejects with `session_not_found`.
	 */
	delete(owner: string | SessionOwner, sessionId: string): Promise<void>;
	/**
	 * Observes each run that this process works on from now on, including those of sub-agents. Returns a function that
	 * stops it. Absent: runs are neither logged nor counted.
	 */
	observe?(begin: (run: ServedRun) => RunObserver): () => void;
	/** Numbers of the store that holds the sessions. Absent if the store has none. */
	readonly storeStats?: () => Promise<StoreStats>;
	/** Inspects sessions, for operators. Absent: they cannot be inspected. */
	readonly inspection?: SessionInspection;
	/** Finishes the work of dead processes once. Iterate over it to get each resumed run, or await it. */
	recover(options?: RecoverOptions): Recovery;
	/**
	 * Does the same in the background until the service is closed, and retries failures. Resolves after the first check.
	 * A server that listens calls it.
	 */
	supervise(options?: SuperviseOptions): Promise<void>;
	/**
	 * Runs the due work of the served sessions, as `agent.work()` does for an agent's own: for a process that serves no
	 * clients. It yields each resumed run, under the keys that `readSessionKey` reads.
	 */
	work(options?: WorkOptions): AsyncIterable<AgentRun>;
	/**
	 * Refuses requests with `agent_closed`, which HTTP callers receive as 503 `shutting_down`. Runs may finish for
	 * `drainMs`; the others stay resumable. A second call waits for the first.
	 */
	close(options?: DrainOptions): Promise<void>;
}
