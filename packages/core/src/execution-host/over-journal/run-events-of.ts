// The events of one run, read from its journal: the same events that its watchers received.

import type { AgentEvent, Entry } from "../../facts/index.ts";
import { eventsOf } from "../../facts/index.ts";
import { SessionEvents } from "../../sessions/index.ts";

/** Returns the events of one run's entries, starting with its first one. */
export function runEventsOf(entries: readonly Entry[]): readonly AgentEvent[] {
	const events: AgentEvent[] = [];
	const projection = new SessionEvents();
	void projection.return();
	projection.onEvent = (event) => events.push(event);
	for (const event of eventsOf(entries)) projection.notify(event);
	return events;
}
