// What sessions need to know of their agent. With plugins, the engine's view of it is complete once they are set up.
import type { Message } from "@holdfast/upp";
import type { EngineAgent, Interceptors, Run } from "../engine/index.ts";
import type { Host, RunOutcome } from "../journal/index.ts";
import type { SendInput } from "./input.ts";
import type { SessionTable } from "./session-table.ts";

/** A turn as plugins see it. */
export interface PluginTurn {
	readonly sessionKey: string;
	/** Fires when the run is told to stop. */
	readonly signal: AbortSignal;
	/** The conversation as committed. */
	history(): readonly Message[];
	/** From 0. */
	stepIndex(): number;
	/** Shows the model something for the rest of the turn. */
	overlay(input: SendInput): Promise<void>;
	/** Says something to the turn. */
	steer(input: SendInput): Promise<unknown>;
}

/** The plugins of an agent, set up. */
export interface SessionPlugins {
	/** Where they step in; only what some plugin listens to. */
	interceptors(turn: PluginTurn, tools?: "engine-tools" | "own-tools"): Interceptors;
	/** The turn is over. Never rejects. */
	turnAfter(turn: PluginTurn, result: RunOutcome): Promise<void>;
	/** Tells whoever looks on. Never throws. */
	tell(event: unknown, turn: PluginTurn): void;
	/** Deletes what plugins keep for a session. */
	deleted(sessionKey: string): Promise<void>;
}

/** What the sessions of one table start in sessions of sub-agents. */
export interface SessionChildren {
	/** The sessions of the sub-agent of that name; undefined when there is no such sub-agent. */
	tableOf(subagent: string): SessionTable | undefined;
	/** A run of the session at that place is driven until `over` settles. */
	driven(place: string, run: Run, over: Promise<unknown>): void;
	/**
	 * Sees to what a process left behind in a child session: work in the background goes on, or is told when it is over.
	 * `none`: there is none, or the parent's own run sees to it. `abandoned`: the parent waited for it, and is over.
	 */
	recover(place: string): Promise<"under-way" | "none" | "abandoned">;
	/** Tells what may not have been told of work that is over. Called for one place after the other, in their order. */
	retell(place: string): Promise<void>;
	/** Suspends all of them. */
	close(): Promise<void>;
}

/** When a run that was cut off is parked instead of being taken up again. */
export interface RestartPolicy {
	/** Deaths of its process since the last finished step, after each of which it is taken up again. */
	readonly maxRestarts: number;
	readonly onAgentChange: "go-on" | "park";
}

/** The plugins are being set up. */
export interface AgentSetup {
	/** Settles when they are. Rejects with `agent_not_ready` within what the setup waits for, else with what it threw. */
	over(): Promise<unknown>;
	/** @throws HoldfastError `agent_not_ready` within what the setup waits for. */
	check(): void;
}

export interface SessionAgent {
	readonly engine: EngineAgent;
	/** Undefined while there are none, or they are not set up yet. */
	readonly plugins: SessionPlugins | undefined;
	/** Absent when there is nothing to set up, or no more. */
	readonly setup: AgentSetup | undefined;
	/** Whether the engine carries out tools, or the model does so itself. */
	readonly tools: "engine-tools" | "own-tools";
	/** Keeps sessions of agents that share a store apart. */
	readonly namespace: string | undefined;
	/** When runs that were cut off are not gone on with by themselves. */
	readonly restarts: RestartPolicy;
	/** Where sessions are kept when the agent was given no host: plugins may say so. */
	readonly host?: Host | undefined;
	/** The agent as it is in one table of sessions; absent when it is the same in all. */
	readonly inTable?: (table: SessionTable) => SessionAgent;
	/** Absent when it has no sub-agents. */
	readonly children?: SessionChildren;
}
