// What a streamed call of an agent gives back.
import type { ResultWith } from "../state/index.ts";
import type { AgentStreamEvent } from "./uap-events.ts";

/** What `stream` returns: its events, its result, and a way to cancel. Single consumer. */
export interface AgentStreamResult<Output = unknown, Event = AgentStreamEvent> extends AsyncIterable<Event> {
	/** Settles also when nobody iterates. */
	readonly result: Promise<ResultWith<Output>>;
	/** Cancels the model call and the tools; `result` rejects with code CANCELLED. Harmless when called again. */
	abort(): void;
}
