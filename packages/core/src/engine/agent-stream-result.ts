// The result of `agent.stream()`.
import type { ResultWith } from "../state/index.ts";
import type { AgentStreamEvent } from "./uap-events.ts";

/** The result of `stream`: its events, its result, and a way to cancel. It supports a single consumer. */
export interface AgentStreamResult<Output = unknown, Event = AgentStreamEvent> extends AsyncIterable<Event> {
	/** Settles even if you do not read the events. */
	readonly result: Promise<ResultWith<Output>>;
	/** Cancels the model call and the tools; `result` rejects with code CANCELLED. Calling it again has no effect. */
	abort(): void;
}
