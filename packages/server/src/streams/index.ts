// Entry point of the streams: server-sent events with resume, shared feeds, projections.
export { compareEventIds, looksLikeEventId } from "./event-id.ts";
export {
	bodyOf,
	EventStream,
	type EventStreamOptions,
	type StartSource,
} from "./event-stream.ts";
export { FeedTable } from "./feed-table.ts";
export { type ProjectionOptions, project } from "./projected.ts";
export { projectedRun } from "./projected-run.ts";
export { heartbeat, recordOf } from "./record.ts";
export { sourceLater } from "./source-later.ts";
export { type StreamEnd, StreamTable } from "./stream-table.ts";
export { type Until, watchFrom, watchNew } from "./watch.ts";
