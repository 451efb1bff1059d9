// The sessions' view of their agent. If the agent has plugins, the engine's view of it is complete only after their
// setup.
import type { Caller } from "../caller/index.ts";
import type { EngineAgent, ModelWait, Run } from "../engine/index.ts";
import type { PendingToolCall, SessionState, ToolAnswer } from "../facts/index.ts";
import type { Host, Journal, MaybePromise, SessionKeys, Warn } from "../host/index.ts";
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
}

/** The sub-agent sessions that the sessions of one table start. */
export interface SessionChildren {
	/** The sessions of the sub-agent of that name; undefined when there is no such sub-agent. */
	tableOf(subagent: string): SessionTable | undefined;
	/** The sessions of the sub-agents that keep theirs in another store than their parent. */
	elsewhere(): readonly SessionTable[];
	/** A run of the session at that store key is driven until `over` settles. */
	driven(storeKey: string, run: Run, over: Promise<unknown>): void;
	/**
	 * Takes care of abandoned work in a child session: background work is resumed, or its reminder delivered if it has
	 * ended. `none`: no such run, or the parent's own run handles it. `with-parent`: the parent waits for it, and
	 * continues with it. `abandoned`: the parent waited for it, and has ended.
	 */
	adopt(storeKey: string): Promise<"under-way" | "none" | "with-parent" | "abandoned">;
	/** Whether something has happened to a sub-agent that the run waits for, or its time has come. */
	hasNews(state: SessionState): Promise<boolean>;
	/**
	 * Hands answers to the sub-agents whose calls wait, for the run that waits or in the background. Resolves once each of them is
	 * on record, with how many were for that run, and with a run in the background that continues. `check` refuses all of
	 * them before any is taken.
	 */
	answer(
		to: { readonly storeKey: string; readonly run: SessionState["run"] },
		answers: readonly ToolAnswer[],
		check: () => void,
	): Promise<{ readonly foreground: number; readonly background?: AgentRun | undefined }>;
	/**
	 * Applies the policies of the sub-agents to the answers that are for them: they wait in the inbox of the session
	 * above.
	 */
	admitAnswers(
		to: { readonly storeKey: string; readonly run: SessionState["run"] },
		answers: readonly ToolAnswer[],
	): Promise<readonly ToolAnswer[]>;
	/** Rejects with `tool_call_settled` where a call of a sub-agent has another answer by now, which it got in its own session. */
	refuseAnswered(
		to: { readonly storeKey: string; readonly run: SessionState["run"] },
		answers: readonly ToolAnswer[],
	): Promise<void>;
	/** The calls that sub-agents of a session wait for which work in the background. */
	pendingInBackground(storeKey: string): Promise<readonly PendingToolCall[]>;
	/** Ends the work of the sub-agents that the run waits for, before the run itself ends. */
	end(state: SessionState): Promise<void>;
	/**
	 * Delivers the reminder of a background task that has ended, if no process has, and ends a sub-agent in the foreground whose
	 * parent has no open run. Called for one session after the other, in their order.
	 */
	retell(storeKey: string): Promise<void>;
	/** Suspends all of them. */
	close(): Promise<void>;
}

/** When an interrupted run is parked instead of being resumed. */
export interface RestartPolicy {
	/** How many deaths of its process since the last finished step a run is resumed after. */
	readonly maxRestarts: number;
	readonly onAgentChange: "continue" | "park";
}

/** The setup of the agent's plugins. */
export interface AgentSetup {
	/** Settles when they are. Rejects with `agent_not_ready` within what the setup waits for, else with what it threw. */
	over(): Promise<unknown>;
	/** @throws HoldfastError `agent_not_ready` within what the setup waits for. */
	check(): void;
}

/** The data from which a turn's agent is chosen. */
export interface TurnRequest {
	/** The caller's key of the session. */
	readonly sessionKey: string;
	/** Keeps sessions of agents that share a store apart. */
	readonly namespace: string | undefined;
	/** The requester of the turn, if known. */
	readonly caller?: Caller | undefined;
}

export interface SessionAgent {
	/** The agent where nothing about a turn says otherwise; its ports are those of all turns. */
	readonly engine: EngineAgent;
	/**
	 * Returns the agent of a turn, called before each turn and each resume: its result applies to that turn alone. A
	 * rejection refuses the turn. `tools` are added to its own, each of which goes through `bind`. Undefined, or absent:
	 * `engine`.
	 */
	readonly resolve?: (
		turn: TurnRequest,
		tools?: readonly AnyTool[],
		bind?: (tool: AnyTool, owner: { readonly model?: unknown; readonly config?: unknown }) => AnyTool,
	) => MaybePromise<EngineAgent | undefined>;
	/** Undefined if absent; without the plugins while they are not set up yet. */
	readonly policy: AgentPolicy | undefined;
	/** Applied to inputs before they enter the inbox of its sessions; undefined to leave them unchanged. */
	readonly admitWaiting: AdmitWaiting | undefined;
	/** Absent when there is nothing to set up, or no more. */
	readonly setup: AgentSetup | undefined;
	/** Keeps sessions of agents that share a store apart. */
	readonly namespace: string | undefined;
	/** Where its sessions are in the store. */
	readonly keys: SessionKeys;
	/** When runs that were cut off are not resumed by themselves. */
	readonly restarts: RestartPolicy;
	/** How to treat runs without a reader. */
	readonly unread: Unread;
	/** How runs wait for the provider of their model; undefined: as usual where the journal is durable, else not. */
	readonly modelWait: ModelWait | "never" | undefined;
	/** Gets warnings. */
	readonly warn: Warn;
	/** The location of sessions if the agent was given no host: plugins may set it. */
	readonly host?: Host | undefined;
	/** Where it was given to keep its sessions; those it has as a sub-agent, too. Absent: where its parent's are. */
	readonly home?: SessionHome | undefined;
	/** The agent in one table of sessions; absent if it is the same in all. */
	readonly inTable?: (table: SessionTable) => SessionAgent;
	/** Absent when it has no sub-agents. */
	readonly children?: SessionChildren;
}
