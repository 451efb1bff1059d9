// The events of one run and read from its journal: they are those that its watchers saw.

import type { AgentEvent, Entry } from "../../facts/index.ts";
import { eventsOf } from "../../facts/index.ts";
import { SessionEvents } from "../../sessions/index.ts";

/** The events of the entries of one run, from its first one. */
export function runEventsOf(entries: readonly Entry[]): readonly AgentEvent[] {
	const events: AgentEvent[] = [];
	const projection = new SessionEvents();
	void projection.return();
	projection.onEvent = (event) => events.push(event);
	for (const event of eventsOf(entries)) projection.notify(event);
	return events;
}
