// The errors of sessions (keeps I9).
import { cutText, HoldfastError } from "@holdfast/upp";
import type { RunParked } from "../facts/index.ts";

/** The agent was closed. */
export function agentClosed(): HoldfastError {
	return new HoldfastError(
		"agent_closed",
		"It was closed, and accepts no requests. Create a new one to continue.",
	);
}

/** The run before this turn was left open, so this turn was not started. */
export function runBeforeSuspended(key: string): HoldfastError {
	return new HoldfastError(
		"run_suspended",
		`The run before this one was suspended; resume session "${key}" to continue both.`,
		{ retryable: true },
	);
}

/** The previous run waits for an outside answer, so this turn was not started. */
export function runBeforeWaits(key: string): HoldfastError {
	return new HoldfastError(
		"run_suspended",
		`The run before this one waits for answers to its tool calls; answer them with session("${key}").answer([...]), and this turn follows.`,
		{ retryable: true },
	);
}

/** A run of the session is in progress. */
export function sessionBusy(key: string): HoldfastError {
	return new HoldfastError(
		"session_busy",
		`A run of session "${key}" is active. Await its result first; session.send() queues instead.`,
		{
			retryable: true,
		},
	);
}

/** The history has no user message with that id. */
export function unknownMessage(key: string, messageId: string | undefined): HoldfastError {
	return new HoldfastError(
		"unknown_message",
		`Session "${key}" has no message ${JSON.stringify(cutText(messageId ?? "", 100))} of the user that could be replaced. Load the conversation again.`,
	);
}

/** The history already has a message with that id. */
export function duplicateMessage(key: string, messageId: string): HoldfastError {
	return new HoldfastError(
		"duplicate_message",
		`Session "${key}" already has a message with the id ${JSON.stringify(cutText(messageId, 100))}. Use a new id, or replace the message with an edit of the kind "update".`,
	);
}

/** A tool waits for its own session, or for one that waits for it. */
export function awaitsItself(key: string): HoldfastError {
	return new HoldfastError(
		"session_busy",
		`A tool or hook waits here for a run of session "${key}", or for the session itself, which cannot continue before it has returned: both would wait forever. ` +
			"Return first, and read the session from outside; it continues by itself.",
	);
}

/** A plugin's `setup` uses the agent that becomes ready only when `setup` returns, or waits for something that does. */
export function awaitsOwnSetup(): HoldfastError {
	return new HoldfastError(
		"agent_not_ready",
		"A plugin's `setup` waits here for the agent, which is ready only when it has returned: both would wait forever. " +
			"Return first; use the agent in hooks and tools, or when Agent.create() has resolved.",
	);
}

/** A run of the session waits for answers. */
export function pendingToolCalls(key: string): HoldfastError {
	return new HoldfastError(
		"pending_tool_calls",
		`A run of session "${key}" waits for answers to its tool calls. Answer them, wait, or stop it.`,
	);
}

/** No call waits for an answer. */
export function noPendingToolCalls(key: string): HoldfastError {
	return new HoldfastError(
		"no_pending_tool_calls",
		`Session "${key}" does not wait for a tool call: the call was already answered, or was never requested.`,
	);
}

/** Another worker started the turn. */
export function startedElsewhere(key: string): HoldfastError {
	return new HoldfastError(
		"lease_lost",
		`Another worker has taken session "${key}" over and started this turn; it continues there.`,
		{ retryable: true },
	);
}

/** Another worker has received the answers to its run's calls. */
export function continuesElsewhere(key: string): HoldfastError {
	return new HoldfastError(
		"lease_lost",
		`Another worker works on session "${key}". It has the answers and continues the run; follow the session to see what it does.`,
		{ retryable: true },
	);
}

/** Another living worker owns the session. */
export function sessionHeld(key: string): HoldfastError {
	return new HoldfastError(
		"session_held",
		`Another active worker works on session "${key}". Wait until it is done.`,
		{ retryable: true },
	);
}

/** The run is parked and resumes only after a release. */
export function runParked(
	key: string,
	runId: string,
	{ reason, crashes, agentChanged = [], error }: RunParked,
): HoldfastError {
	const why = {
		crash: `its process died ${crashes} times without finishing a step in between.`,
		"agent-changed": `its agent has changed since it started: ${agentChanged.join(", ")}.`,
		"code-diverged": error?.message ?? "its code no longer matches its record.",
		"open-children": error?.message ?? "its code ended while child workflows were open.",
		"code-stuck": error?.message ?? "its code awaits something that will not happen.",
	}[reason];
	return new HoldfastError(
		"run_parked",
		`Run ${runId} of session "${key}" is parked: ${why} Inputs to the session wait. ` +
			"Fix the cause, then call session.release() to continue it, or session.kill() to end it.",
		{ data: { key, runId, reason, crashes } },
	);
}

/** Whether the error means that a run is parked. */
export function isParked(error: unknown): boolean {
	return (error as { code?: unknown } | null)?.code === "run_parked";
}

/**
 * Whether an error of the store means that another worker has the session, or that the session cannot be read. Such an
 * error ends the run that encounters it.
 */
export function endsRun(error: unknown): boolean {
	return endings.has((error as { code?: unknown } | null)?.code);
}

const endings: ReadonlySet<unknown> = new Set(["session_conflict", "journal_newer", "journal_corrupt"]);
