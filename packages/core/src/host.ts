// Entry `holdfast/host`: what a host is made of, for whoever writes or examines one: its ports, their twins in memory, how
// facts are stored and folded to the state of a session, and the errors and rules every journal shares.
export {
	agentOfCheckpoint,
	type CheckpointData,
	type CheckpointMetadata,
	type CheckpointStore,
} from "./checkpoint/checkpoint-store.ts";
export type { RecordingHost } from "./execution-host/execution-host.ts";
export {
	type JournalExecutionOptions,
	journalExecution,
} from "./execution-host/over-journal/journal-execution.ts";
export { isFinal } from "./execution-host/run-record.ts";
export { decodeFact, type EncodedFact, encodeFact } from "./facts/codec.ts";
export type { Committed } from "./facts/committed.ts";
export type { FactKind } from "./facts/fact.ts";
export { isJobEvent } from "./facts/job-events.ts";
export {
	duplicateInput,
	eventsExpired,
	foldUnsupported,
	forkUnsettled,
	historyUnsettled,
	isUnreadable,
	journalClosed,
	journalCorrupt,
	leaseLost,
	named,
	sessionExists,
} from "./facts/journal-errors.ts";
export { emptySession, foldEntries } from "./facts/journal-fold.ts";
export { lookAt, never } from "./facts/look-at.ts";
export { readEdit } from "./facts/message-edit.ts";
export type { SessionState } from "./facts/session-state.ts";
export { isSettledAt } from "./facts/settled-at.ts";
export { changesAtOnce, changesExpired, rememberedDeletions } from "./host/changes.ts";
export { fileChanged, fileNotFound, fileTooLarge, pieceSize, piecesOf, rangeIn } from "./host/files.ts";
export { journalHost } from "./host/host-port.ts";
export type { MaybePromise } from "./host/journal.ts";
export { type MemoryJournal, type MemoryJournalOptions, memoryJournal } from "./host/memory-journal.ts";
export { memoryRecords } from "./host/memory-records.ts";
export { systemPorts } from "./host/ports.ts";
export type {
	ListRecords,
	RecordExpectation,
	RecordSpace,
	RecordWrite,
	StoredRecord,
} from "./host/records.ts";
export type { RunIndex, RunLocation } from "./host/run-index.ts";
export { childPrefix, namespacePrefix, readChildStoreKey } from "./host/session-key.ts";
export type { CommitResult, SessionStore, StoredSession } from "./host/session-store.ts";
export {
	type DumpBatch,
	type DumpTable,
	type DumpTables,
	differsIn,
	dumpTables,
	type StoreDump,
	StoreScale,
	type StoreSize,
	type TableSize,
} from "./host/store-dump.ts";
export type { StoreStats } from "./host/store-stats.ts";
export { claimAtOnce, claimLease } from "./host/timers.ts";
export { makeWatchers, type Watchers } from "./host/watchers.ts";
export type { WorkQueue, WorkTaker } from "./host/work-queue.ts";
export { fromStored, toStored } from "./sqlite/stored-text.ts";
export { taskKey } from "./subagents/task-key.ts";
