// Entry point of the events: event stores and recorded runs.
export { EventComparer } from "./compare.ts";
export {
	databaseEventStore,
	type EventStoreOptions,
	fileEventStore,
	memoryEventStore,
} from "./event-stores.ts";
export { type RecordedCall, type RecordedRun, readRecordedRun } from "./recorded-run.ts";
