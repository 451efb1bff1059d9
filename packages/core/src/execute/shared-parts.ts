// What the sessions of one host share.
import type { AgentSessions, TurnOptions } from "../agent/index.ts";
import type { Caller } from "../caller/index.ts";
import type { Host, MaybePromise } from "../host/index.ts";
import type { TurnAgents } from "./turn-agents.ts";
import type { TurnSetups } from "./turn-setups.ts";

/** Shared parts of the sessions of one host. */
export interface SharedParts {
	readonly host: Host;
	readonly agents: TurnAgents;
	readonly setups: TurnSetups;
	/** Returns the session's agent apart from its stored setup, if it depends on the caller. */
	agentOf(key: string, caller: Caller | undefined): MaybePromise<TurnOptions | undefined>;
	keyed(): AgentSessions;
	isClosed(): boolean;
	/** By key: settles when the last requested execution is accepted or refused. */
	readonly accepting: Map<string, Promise<unknown>>;
	newId(): string;
	now(): number;
}
