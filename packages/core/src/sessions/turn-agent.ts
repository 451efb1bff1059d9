// The sessions' view of their agent. If the agent has plugins, the engine's view of it is complete only after their
// setup.
import type { Caller } from "../caller/index.ts";
import type { EngineAgent, ModelWait, Run } from "../engine/index.ts";
import type { PendingToolCall, SessionState, ToolAnswer, WaitingChild } from "../facts/index.ts";
import type { Host, Journal, MaybePromise, SessionData, SessionKeys, Warn } from "../host/index.ts";
import type { AdmitWaiting, AgentPolicy } from "../policy/index.ts";
import type { AnyTool } from "../tools/index.ts";
import type { AgentRun } from "./agent-run.ts";
import type { SessionRecords } from "./session-records.ts";
import type { SessionTable } from "./session-table.ts";
import type { Unread } from "./unread-runs.ts";

/** Where an agent's sessions are stored. */
export interface SessionHome {
	readonly journal: Journal;
	/** An object shared by agents whose sessions are in one store, even with separate journals over it. */
	readonly store: object;
	readonly records: SessionRecords | undefined;
	readonly data: SessionData;
}

/** The sub-agent sessions that the sessions of one table start. */
export interface SessionChildren {
	/** Returns the sessions of the sub-agent of that name; undefined if there is no such sub-agent. */
	tableOf(subagent: string): SessionTable | undefined;
	/** Returns the sessions of the sub-agents that keep theirs in a different store than their parent. */
	elsewhere(): readonly SessionTable[];
	/** Reports that this process works on a run of the session with that store key until `over` settles. */
	driven(storeKey: string, run: Run, over: Promise<unknown>): void;
	/**
	 * Handles abandoned work in a child session: resumes background work, or delivers its reminder if it has ended.
	 * `none`: no such run, or the parent's own run handles it. `with-parent`: the parent waits for it, and continues with
	 * it. `abandoned`: the parent waited for it, and has ended.
	 */
	adopt(storeKey: string): Promise<"under-way" | "none" | "with-parent" | "abandoned">;
	/** Whether a sub-agent that the run waits for has progressed, or its time has come. */
	hasNews(state: SessionState): Promise<boolean>;
	/**
	 * Delivers answers to the sub-agents whose calls wait, either for the waiting run or in the background. Resolves once
	 * each answer is recorded, with the number of answers for that run, and with a background run that continues.
	 * `check` may refuse all of them before any is accepted.
	 */
	answer(
		to: { readonly storeKey: string; readonly run: SessionState["run"] },
		answers: readonly ToolAnswer[],
		check: () => void,
	): Promise<{ readonly foreground: number; readonly background?: AgentRun | undefined }>;
	/** Applies the sub-agents' policies to the answers for them, which wait in the inbox of the session above. */
	admitAnswers(
		to: { readonly storeKey: string; readonly run: SessionState["run"] },
		answers: readonly ToolAnswer[],
	): Promise<readonly ToolAnswer[]>;
	/** Rejects with `tool_call_settled` if a sub-agent's call has since received another answer in its own session. */
	refuseAnswered(
		to: { readonly storeKey: string; readonly run: SessionState["run"] },
		answers: readonly ToolAnswer[],
	): Promise<void>;
	/** Returns the calls that a session's background sub-agents wait for. */
	pendingInBackground(storeKey: string): Promise<readonly PendingToolCall[]>;
	/** Ends the work of the sub-agents that the run waits for, before the run itself ends. */
	end(state: SessionState): Promise<void>;
	/**
	 * Ends those of these sub-agents that still wait although the run has ended: it was resumed after it had waited with
	 * them, and ended before it continued them.
	 */
	endLeft(state: SessionState, children: readonly WaitingChild[]): Promise<void>;
	/**
	 * Delivers the reminder of an ended background task if no process has, and ends a foreground sub-agent whose parent
	 * has no open run. Called for one session after the other, in order.
	 */
	retell(storeKey: string): Promise<void>;
	/** Suspends all sub-agent sessions. */
	close(): Promise<void>;
}

/** When an interrupted run is parked instead of being resumed. */
export interface RestartPolicy {
	/** How many times in a row a run is resumed after its process died without finishing another step. */
	readonly maxRestarts: number;
	readonly onAgentChange: "continue" | "park";
}

/** The setup of the agent's plugins. */
export interface AgentSetup {
	/**
	 * Settles when all plugins are set up. Rejects with `agent_not_ready` inside code that the setup waits for, otherwise
	 * with the setup's own error.
	 */
	over(): Promise<unknown>;
	/** @throws HoldfastError `agent_not_ready` inside code that the setup waits for. */
	check(): void;
}

/** The data from which a turn's agent is chosen. */
export interface TurnRequest {
	/** The caller's key of the session. */
	readonly sessionKey: string;
	/** Separates the sessions of agents that share a store. */
	readonly namespace: string | undefined;
	/** The requester of the turn; undefined if unknown. */
	readonly caller?: Caller | undefined;
}

export interface SessionAgent {
	/** The agent unless a turn specifies another one; its ports are those of all turns. */
	readonly engine: EngineAgent;
	/**
	 * Returns the agent of calls, with the tools and instructions that plugins add to them, and an output schema if one is
	 * given. Absent if plugins add none.
	 */
	readonly engineOfCalls?: (output: unknown) => EngineAgent;
	/**
	 * Returns the agent of a turn. Called before each turn and each resume; the result applies only to that turn. A
	 * rejection refuses the turn. `tools` are added to the agent's own tools, which all pass through `bind`. Undefined,
	 * or absent: `engine`.
	 */
	readonly resolve?: (
		turn: TurnRequest,
		tools?: readonly AnyTool[],
		bind?: (tool: AnyTool, owner: { readonly model?: unknown; readonly config?: unknown }) => AnyTool,
	) => MaybePromise<EngineAgent | undefined>;
	/** Undefined if absent. Does not contain plugins that are not set up yet. */
	readonly policy: AgentPolicy | undefined;
	/** Applied to inputs before they enter the inbox of its sessions; undefined to leave them unchanged. */
	readonly admitWaiting: AdmitWaiting | undefined;
	/** Absent if there is nothing to set up, or setup has finished. */
	readonly setup: AgentSetup | undefined;
	/** Separates the sessions of agents that share a store. */
	readonly namespace: string | undefined;
	/** How session keys map to store keys. */
	readonly keys: SessionKeys;
	/** When interrupted runs are not resumed automatically. */
	readonly restarts: RestartPolicy;
	/** How to treat runs without a reader. */
	readonly unread: Unread;
	/**
	 * How runs wait for their model's provider; undefined: with the defaults if the journal is durable, otherwise not at
	 * all.
	 */
	readonly modelWait: ModelWait | "never" | undefined;
	/** Receives warnings. */
	readonly warn: Warn;
	/** Where sessions are stored if the agent was given no host: plugins may set it. */
	readonly host?: Host | undefined;
	/**
	 * Where the agent's options place its sessions, including those it has as a sub-agent. Absent: in its parent's store.
	 */
	readonly home?: SessionHome | undefined;
	/**
	 * Returns the agent for sessions in the store of a parent, with the data of its policy in that store. Absent if it
	 * stores no such data, or has its own store.
	 */
	readonly inStore?: (data: SessionData) => SessionAgent;
	/** The agent in one table of sessions; absent if it is the same in all. */
	readonly inTable?: (table: SessionTable) => SessionAgent;
	/** Absent if the agent has no sub-agents. */
	readonly children?: SessionChildren;
}

/**
 * Returns the agent with some members replaced. All others are those of the agent at the time of access, because plugins
 * change it once they are set up.
 */
export function forwarded(agent: SessionAgent, changes: Partial<SessionAgent>): SessionAgent {
	return Object.create(agent, Object.getOwnPropertyDescriptors(changes)) as SessionAgent;
}
