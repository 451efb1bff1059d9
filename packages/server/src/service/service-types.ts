// The types of a session service: its options, requests and answers.
import { optionNames } from "@holdfast/upp";
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
 * A field that clients may be let set. `prompt`: the system prompt of a new session. `history`: the messages it begins with.
 * `tools`: tools that the client carries out. `model`: the model, by a name that the service knows. `options`: temperature and
 * maxTokens.
 */
export type ClientField = "prompt" | "history" | "tools" | "model" | "options";

/** Options of what clients may send. */
export interface ClientFieldOptions {
	/**
	 * Fields that clients may set besides their input. Each listed field is open to every client that may call. Default:
	 * none.
	 */
	readonly clientsMaySet?: readonly ClientField[];
	/**
	 * `bring-context`: clients define the sessions that they open. A new session requires a `context`, clients may set every
	 * field of `clientsMaySet`, and JSON is also accepted with the content type `text/plain`, which `fetch` gives to a string. Only for
	 * clients that you trust as much as your own code. Default: clients send their input, and the server defines the session.
	 */
	readonly clients?: "bring-context";
	/** Messages that the history of a new session may have, and answers that an input may. Default 1,000. */
	readonly maxMessages?: number;
	/** Tools that a client may give a session. Default 100. */
	readonly maxTools?: number;
}

/** A request to execute something, as a client sends it. Nothing of it is trusted. */
export interface ExecuteRequest {
	/** A user's message, or answers to pending tool calls. */
	readonly input: unknown;
	/** Of a new session; ignored where the session exists. */
	readonly context?: unknown;
	readonly options?: unknown;
	/** Id of the message. Default, and where the session has a message of that id: a new one. */
	readonly messageId?: string;
	/**
	 * Id of a message of the user, whose place the message takes: that one and all that followed are taken out of the
	 * conversation, and its id stays. Default: the message follows what was said last.
	 */
	readonly insteadOf?: string;
	/** The message waits for the run under way where it would steer it. */
	readonly neverSteers?: true;
	/**
	 * How to treat a message while a run waits for answers to its calls. `refuse` (the default): it is refused with
	 * `pending_tool_calls`. `queue`: it is executed after that run.
	 */
	readonly whilePending?: "refuse" | "queue";
	/** The id of the session was just generated: it is not looked up first, but found if it exists. */
	readonly isNew?: true;
}

/** How a session of a service is followed. */
export interface ServedFollowOptions extends FollowOptions {
	/** The session is known to be there: it is not looked for. Default: it is. */
	readonly isKnown?: boolean;
	/**
	 * Called before each batch with the session that the batch is of: after a deletion another one is made under the same id. A
	 * service that never calls it is taken to have one session of an id.
	 */
	readonly reads?: (incarnation: string | undefined) => void;
}

/**
 * How to treat a message during a run. `queue`: it is executed after that run. `steer`: it enters that run. `refuse`: it
 * is refused with `session_busy`.
 */
export type WhileRunning = "queue" | "steer" | "refuse";
/** A session whose turn is about to begin, and who asks for it. */
export interface TurnOfSession extends ServedCaller {
	readonly sessionId: string;
}

/** A run of a session. */
export interface ServedRun extends SessionOwner {
	readonly sessionId: string;
	readonly runId: string;
}

/** Models by name, or the model of a name: undefined without one. */
export type NamedModels =
	| Readonly<Record<string, NonNullable<AgentOptions["model"]>>>
	| ((name: string) => AgentOptions["model"] | Promise<AgentOptions["model"]>);

/** Options of `sessionService`. */
export interface SessionServiceOptions extends ClientFieldOptions {
	/** Where the sessions live: `sqliteHost(path)`, or `memoryHost()` for those that need not survive. */
	readonly host: Host;
	/** The common options of all sessions' agents: model, system prompt, tools, prices and so on. */
	readonly agent: AgentOptions;
	/**
	 * Returns the options that replace those of `agent` in a turn: by tenant, user or claims. Called when a session is
	 * created, before each turn and when a run is resumed, then with the recorded caller; without claims for reading.
	 * Return the same object for the same agent, because each new one is prepared again. Default: all have the same
	 * agent.
	 */
	readonly agentFor?: (turn: TurnOfSession) => TurnOptions | undefined | Promise<TurnOptions | undefined>;
	/**
	 * Whose a session is. `user` (the default): who made it; for other users of the tenant it is not there, and its id is free.
	 * `tenant`: all users of a tenant share its sessions. A change finds none of the sessions that were made before.
	 */
	readonly sessionsOf?: "user" | "tenant";
	/**
	 * Converts an error of a run for clients, by its code: for errors with which the policy or hooks of your own tools
	 * end runs. Messages of providers and other sources are never shown unless this returns them. Default: the server's
	 * own texts.
	 */
	readonly shownError?: (error: { readonly code: string; readonly message: string }) => string | undefined;
	/**
	 * The models that clients and forks may choose, by name; or a function from a name to a model, which keeps the names
	 * private. Default: only the agent's own model, by its id.
	 */
	readonly models?: NamedModels;
	/** How many steps an execution may take, over all its suspensions. Default: no limit. */
	readonly maxSteps?: number;
	/** Milliseconds that clients have for the result of a remote tool. Default: no limit. Approvals never run out. */
	readonly remoteToolTimeoutMs?: number;
	/** How to treat a message that arrives during a run. Default `queue`. */
	readonly whileRunning?: WhileRunning;
	/**
	 * Milliseconds for which deltas are gathered before they are committed and emitted. Default 20. Less: they come
	 * earlier; more: fewer commits.
	 */
	readonly deltaFlushMs?: number;
	/** Milliseconds between two looks for runs that a dead process left. Default 500. */
	readonly recoverEveryMs?: number;
}

/** The names of its options. */
export const sessionServiceNames: ReadonlySet<string> = optionNames<SessionServiceOptions>({
	host: true,
	agent: true,
	agentFor: true,
	sessionsOf: true,
	shownError: true,
	models: true,
	maxSteps: true,
	remoteToolTimeoutMs: true,
	whileRunning: true,
	deltaFlushMs: true,
	recoverEveryMs: true,
	clientsMaySet: true,
	clients: true,
	maxMessages: true,
	maxTools: true,
});

/** An execution that was accepted: it is durable. */
export interface Submitted {
	readonly sessionId: string;
	readonly runId: string;
	/** Events after this id are those of the execution, from its `session_start` on. */
	readonly after: string;
	/** Whether the session is new. */
	readonly created: boolean;
	/** Whether the same request was accepted before, under the same idempotency key. */
	readonly attached: boolean;
	/** Settles when this process has ended or left the execution. Absent where it is not known to work on it. */
	readonly over?: Promise<unknown>;
	/** Set for answers to tasks in the background alone: the session has no events of what comes of them. */
	readonly inBackground?: true;
	/**
	 * Set where the message waits for a run that is under way: resolves when it is taken in, with the id after which its
	 * events begin; undefined where it will not be, for the session was deleted or killed. The signal ends the wait.
	 */
	readonly begun?: (signal: AbortSignal) => Promise<string | undefined>;
	/** The wait of `begun`, for `whenBegun` in another process. Set together with `begun`. */
	readonly waitsFor?: string;
}

/** A session as its clients see it. */
export interface SessionInfo {
	readonly sessionId: string;
	readonly status: SessionStatus;
	readonly messages: readonly SessionMessage[];
	/** US dollars of all answers whose price is known. */
	readonly totalCost: number;
	readonly pendingToolCalls?: readonly PendingSessionCall[];
	/** Calls of tasks in the background that wait. The session does not wait for them. Present where there are any. */
	readonly backgroundToolCalls?: readonly PendingSessionCall[];
	/** The wait of the current run, other than for answers to its calls. */
	readonly waiting?: SessionWait;
	/** The model that answered last, else the one that will. */
	readonly model: string;
	/** Id of the last event; absent before the first. */
	readonly lastEventId?: string;
	/** The last run; events after `after` are its own, over all its suspensions. Absent before the first. */
	readonly lastRun?: { readonly runId: string; readonly after: string };
}

/** A session in a list. */
export interface SessionSummary {
	readonly sessionId: string;
	/** Milliseconds since the epoch. */
	readonly createdAt: number;
	readonly updatedAt: number;
	/** Whether a run is under way or waits. */
	readonly isOpen: boolean;
}

/** A page of sessions; `next` is where the following one begins. */
export interface SessionPage {
	readonly sessions: readonly SessionSummary[];
	readonly next?: string;
}

/**
 * Sessions served to others. Each is asked for by whom it belongs to; a name alone is that of a tenant, and finds the sessions
 * that are no user's.
 */
export interface SessionService {
	/** As in its options: how clients open sessions. Absent: they send their input only. */
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
	/** Undefined when there is no such session of this owner. */
	get(owner: string | SessionOwner, sessionId: string): Promise<SessionInfo | undefined>;
	/** Sessions of an owner in the order of their ids. At most 100 at a time, 50 by default. */
	list(
		owner: string | SessionOwner,
		options?: { readonly after?: string; readonly limit?: number },
	): Promise<SessionPage>;
	/**
	 * Events of a session in bounded batches; an empty one says, once, that what comes is live. Its iterator rejects with
	 * `session_not_found`, `invalid_event_id`, `events_expired`, and ends at once when it is left or the signal fires.
	 */
	follow(
		owner: string | SessionOwner,
		sessionId: string,
		options?: ServedFollowOptions,
	): AsyncIterable<readonly LoggedEvent[]>;
	/**
	 * False where what a request has opened can be used only while it is answered, as in Workers: each request then follows by
	 * itself, and neither runs nor streams are counted. Default: all watchers of a session share one.
	 */
	readonly sharesFollowing?: boolean;
	/** Ends the run that is under way or waits. Rejects with `session_not_found`. */
	stop(owner: string | SessionOwner, sessionId: string): Promise<{ readonly stopped: boolean }>;
	/**
	 * Ends what a session does and removes all of it, the sessions of its sub-agents included. Its followers get
	 * nothing more. Rejects with `session_not_found`.
	 */
	delete(owner: string | SessionOwner, sessionId: string): Promise<void>;
	/**
	 * Has each run looked at that this process works on from now on, those of sub-agents among them. Returns the way to stop.
	 * Absent: nothing is logged and counted of runs.
	 */
	observe?(begin: (run: ServedRun) => RunObserver): () => void;
	/** Numbers of the store where the sessions live. Absent where the store has none. */
	readonly storeStats?: () => Promise<StoreStats>;
	/** Looks into sessions, for those who look after them. Absent: they cannot be looked into. */
	readonly inspection?: SessionInspection;
	/** Finishes, once, the work of dead processes. Iterate over it to get each run as it is resumed, or await it. */
	recover(options?: RecoverOptions): Recovery;
	/**
	 * Does the same in the background until the service is closed, and tries again what fails. Resolves when it has looked once.
	 * A server that listens calls it.
	 */
	supervise(options?: SuperviseOptions): Promise<void>;
	/**
	 * Runs the due work of the served sessions, like `agent.work()` for an agent's own: for a process that serves no
	 * clients. Its runs are yielded as they are resumed, under the keys that `readSessionKey` reads.
	 */
	work(options?: WorkOptions): AsyncIterable<AgentRun>;
	/**
	 * Refuses requests with `agent_closed`, which callers over HTTP get as 503 `shutting_down`. Runs may finish for `drainMs`, then
	 * they are left to be resumed. A second call waits for the first.
	 */
	close(options?: DrainOptions): Promise<void>;
}
