// What the sessions of one table share in this process.
import type { ModelWait, ObserveRun } from "../engine/index.ts";
import type { AcceptedInput } from "../facts/index.ts";
import type { Journal, Timers } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";
import type { Later } from "./later.ts";
import type { LocalStore } from "./local-store.ts";
import type { SessionActor } from "./session-actor.ts";
import type { SessionRecords } from "./session-records.ts";
import type { SessionAgent } from "./turn-agent.ts";
import type { UnreadRuns } from "./unread-runs.ts";

export interface SessionScope {
	readonly agent: SessionAgent;
	readonly journal: Journal;
	readonly local: LocalStore;
	readonly later: Later;
	readonly timers: Timers;
	readonly records: SessionRecords | undefined;
	/** Looks on at what is driven. */
	readonly observe: ObserveRun | undefined;
	/** Whether runs may wait for somebody outside. */
	readonly mayWait: boolean;
	/** How runs wait for the provider of their model; undefined: they fail. */
	readonly modelWait: ModelWait | undefined;
	/** Sees to runs that nobody reads. */
	readonly unread: UnreadRuns;
	/** Says something to the active run of a session. */
	steer(actor: SessionActor, input: AcceptedInput): Promise<AgentRun>;
	/** The calls of a run that waits for somebody outside are out of time. */
	expire(actor: SessionActor): Promise<void>;
	/** Ends a run that waits, whoever left it. */
	interrupt(actor: SessionActor, runId: string): void;
	/** Nothing is under way in a session any more, and nothing is queued. */
	rested(storeKey: string): void;
	/** A run that a process left open, or a turn of a dead process, is driven here from now on. */
	resumed(run: AgentRun): void;
}
