// What sessions say when they cannot do as they are asked (keeps I9).
import { HoldfastError } from "@holdfast/upp";

/** The agent was closed. */
export function agentClosed(): HoldfastError {
	return new HoldfastError("agent_closed", "The agent was closed. Make a new one to go on.");
}

/** The run before this turn was left open, so this turn was not started. */
export function runBeforeSuspended(key: string): HoldfastError {
	return new HoldfastError(
		"run_suspended",
		`The run before this one was suspended; resume session "${key}" to go on with both.`,
		{ retryable: true },
	);
}

/** The run before this turn waits for somebody outside, so this turn was not started. */
export function runBeforeWaits(key: string): HoldfastError {
	return new HoldfastError(
		"run_suspended",
		`The run before this one waits for answers to its tool calls; answer them with session("${key}").answer([…]), and this turn follows.`,
		{ retryable: true },
	);
}

/** A run of the session is under way. */
export function sessionBusy(key: string): HoldfastError {
	return new HoldfastError("session_busy", `A run of session "${key}" is under way. Wait until it is done.`, {
		retryable: true,
	});
}

/** Nobody waits for an answer. */
export function noPendingToolCalls(key: string): HoldfastError {
	return new HoldfastError(
		"no_pending_tool_calls",
		`Session "${key}" waits for no tool call: it was answered already, or never asked.`,
	);
}

/** Another worker started the turn. */
export function startedElsewhere(key: string): HoldfastError {
	return new HoldfastError(
		"lease_lost",
		`Another worker has taken session "${key}" over and started this turn; it goes on there.`,
		{ retryable: true },
	);
}

/** Another living worker works on the session. */
export function sessionHeld(key: string): HoldfastError {
	return new HoldfastError(
		"session_held",
		`Another worker that is alive works on session "${key}". Wait until it is done.`,
		{ retryable: true },
	);
}

/** Whether an error of the store says that the session is another's, or cannot be read: it ends the run that met it. */
export function endsRun(error: unknown): boolean {
	return endings.has((error as { code?: unknown } | null)?.code);
}

const endings: ReadonlySet<unknown> = new Set(["session_conflict", "journal_newer", "journal_corrupt"]);
