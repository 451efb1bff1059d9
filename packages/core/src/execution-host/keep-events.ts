// The events of runs as records: numbered from 1 within each run.
import type { AgentEvent } from "../facts/index.ts";
import { numbered, type RecordDraft } from "../host/index.ts";
import type { EventCursor, StoredRunEvent } from "./run-events.ts";

export async function appendEvent(
	draft: RecordDraft,
	runId: string,
	event: AgentEvent,
): Promise<EventCursor> {
	const offset = (((await draft.get("event-counts", runId)) as number | undefined) ?? 0) + 1;
	draft.put("event-counts", runId, offset);
	draft.put(`events ${runId}`, numbered(offset), event);
	return { offset };
}

export async function readEvents(
	draft: RecordDraft,
	runId: string,
	cursor: EventCursor = { offset: 0 },
): Promise<readonly StoredRunEvent[]> {
	const events = await draft.list(`events ${runId}`, { after: numbered(cursor.offset) });
	return events.map(([name, event]) => ({
		cursor: { offset: Number(name) },
		event: event as AgentEvent,
		runId,
	}));
}
