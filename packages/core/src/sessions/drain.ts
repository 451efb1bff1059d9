// Reads a run to its end, for callers who only need its outcome.
import type { AgentRun } from "./agent-run.ts";

/** The outcome of a drained run. */
export interface Drained {
	/** Also `error` if the session was killed or the run was left open. */
	readonly outcome: "completed" | "aborted" | "error";
	/** Text of the last answer; empty without one. */
	readonly text: string;
}

/**
 * Consumes a run's events to the end, so that later turns can proceed. A failed run resolves with its outcome.
 *
 * Rejects with `events_already_consumed` if the run already has a consumer.
 */
export async function drain(run: AgentRun): Promise<Drained> {
	const events = run.events();
	while ((await events.next()).done !== true);
	const { outcome, text } = await run.result();
	return { outcome: outcome === "completed" || outcome === "aborted" ? outcome : "error", text };
}
