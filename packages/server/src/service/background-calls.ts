// Background tasks as followers see them. Their waits are recorded in their own sessions, so followers get them with the
// end of an execution as it is sent.
import type { Host } from "holdfast";
import type { ExecuteSession, LoggedEvent } from "holdfast/execute";

/** The calls that wait; nothing where none does. */
export async function backgroundOf(
	session: ExecuteSession,
): Promise<{ readonly backgroundToolCalls?: Awaited<ReturnType<ExecuteSession["backgroundCalls"]>> }> {
	const calls = await session.backgroundCalls();
	return calls.length === 0 ? {} : { backgroundToolCalls: calls };
}

/** The events; where the last one is the end of what the session has done up to now, with the calls that wait by then. */
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
