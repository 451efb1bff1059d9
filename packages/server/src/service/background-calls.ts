// Background tasks as followers see them. Their waits are recorded in their own sessions, so followers receive them with
// the end of an execution at the time it is sent.
import type { Host } from "holdfast";
import type { ExecuteSession, LoggedEvent } from "holdfast/execute";

/** Returns the waiting calls; nothing if none waits. */
export async function backgroundOf(
	session: ExecuteSession,
): Promise<{ readonly backgroundToolCalls?: Awaited<ReturnType<ExecuteSession["backgroundCalls"]>> }> {
	const calls = await session.backgroundCalls();
	return calls.length === 0 ? {} : { backgroundToolCalls: calls };
}

/** Returns the events. If the last one ends the session's activity so far, it includes the calls that wait by then. */
export async function withBackground(
	host: Host,
	session: ExecuteSession,
	events: readonly LoggedEvent[],
): Promise<readonly LoggedEvent[]> {
	const last = events.at(-1);
	if (last?.event.type !== "execute_complete") return events;
	const background = await backgroundOf(session);
	if (background.backgroundToolCalls === undefined) return events;
	const { seq = 0 } = (await host.journal.head(session.storeKey)) ?? {};
	if (!last.id.startsWith(`${seq}.`)) return events;
	return [...events.slice(0, -1), { ...last, event: { ...last.event, ...background } }];
}
