// Door of the events: where they are kept, and what was recorded.
export { EventComparer } from "./compare.ts";
export {
	databaseEventStore,
	type EventStoreOptions,
	fileEventStore,
	memoryEventStore,
} from "./event-stores.ts";
export { type RecordedCall, type RecordedRun, readRecordedRun } from "./recorded-run.ts";
