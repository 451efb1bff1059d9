// A session's events about the work of its sub-agents. They are compact: they never contain the sub-agent's own messages
// or actions.

/** The status of a sub-agent's work. */
export type JobStatus = "queued" | "running" | "completed" | "error" | "cancelled";

/** Work was delegated to a sub-agent. */
export interface SubagentJobStart {
	readonly type: "subagent-job-start";
	/** The name of the sub-agent. */
	readonly subagent: string;
	/** Whether the caller continues without waiting for it. */
	readonly run_in_background: boolean;
	/** Set for background work. */
	readonly task_id?: string;
	/** The description given by the model. */
	readonly description?: string;
	/** The call that delegated the work. */
	readonly delegateToolCallId?: string;
}

/** A sub-agent working in the background made progress. */
export interface SubagentJobUpdate {
	readonly type: "subagent-job-update";
	/** The id of the background task. */
	readonly task_id: string;
	/** The name of the sub-agent. */
	readonly subagent: string;
	/** The state of the work. */
	readonly status: JobStatus;
	/** The type of the event of the sub-agent's own run, without its content. */
	readonly eventType?: string;
}

/** The work has ended. */
export interface SubagentJobEnd {
	readonly type: "subagent-job-end";
	/** The name of the sub-agent. */
	readonly subagent: string;
	/** How the work ended. */
	readonly status: JobStatus;
	/** How many events the sub-agent's run emitted while this process followed it. */
	readonly eventCount: number;
	/** Why it failed. */
	readonly error?: string;
	/** Set for background work. */
	readonly task_id?: string;
	/** The call that delegated the work. */
	readonly delegateToolCallId?: string;
}

/** A sub-agent's work as its parent's watchers see it: its start, updates, its end. */
export type SubagentJobEvent = SubagentJobStart | SubagentJobUpdate | SubagentJobEnd;

const types: ReadonlySet<unknown> = new Set([
	"subagent-job-start",
	"subagent-job-update",
	"subagent-job-end",
]);

/** Whether a value that a tool emitted is an event about a sub-agent's work. */
export function isJobEvent(value: unknown): value is SubagentJobEvent {
	return typeof value === "object" && value !== null && types.has((value as { type?: unknown }).type);
}
