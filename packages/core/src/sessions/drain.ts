// Reading a run to its end, for callers who want nothing but how it went.
import type { AgentRun } from "./agent-run.ts";

/** How a drained run went. */
export interface Drained {
	/** `error` also where the session was killed or the run was left open. */
	readonly outcome: "completed" | "aborted" | "error";
	/** Text of the last answer; empty without one. */
	readonly text: string;
}

/**
 * Consumes the events of a run to their end, so that the turns after it proceed. Failures are an outcome, not a
 * rejection.
 *
 * Rejects with `events_already_consumed` when the run has a consumer.
 */
export async function drain(run: AgentRun): Promise<Drained> {
	const events = run.events();
	while ((await events.next()).done !== true);
	const { outcome, text } = await run.result();
	return { outcome: outcome === "completed" || outcome === "aborted" ? outcome : "error", text };
}
