// What the worker of a session is made of.
import type { Journal } from "../journal/index.ts";
import type { AgentRun } from "./agent-run.ts";
import type { SessionAgent } from "./session-agent.ts";
import type { SessionRecords } from "./session-records.ts";

/** What a worker works with. */
export interface SessionParts {
	readonly agent: SessionAgent;
	readonly journal: Journal;
	/** Where the session stands in the store. */
	readonly place: string;
	/** The caller's key. */
	readonly key: string;
	/** Undefined where no records are kept. */
	readonly records?: SessionRecords | undefined;
	/** Whether its runs may wait for somebody outside. Default: they may not. */
	readonly mayWait?: boolean;
	/** Whether other sessions are at work. Default: none are. */
	readonly othersWork?: () => boolean;
	/** Told of a run that others have left and that goes on here. */
	readonly takenUp?: (run: AgentRun) => void;
}
