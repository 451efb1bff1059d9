// Entry `holdfast/host`: what a host is made of, for whoever writes or examines one: its ports, their twins in memory, and
// how facts are folded to the state of a session.
export type { RecordingHost } from "./execution-host/execution-host.ts";
export {
	type JournalExecutionOptions,
	journalExecution,
} from "./execution-host/over-journal/journal-execution.ts";
export { isFinal } from "./execution-host/run-record.ts";
export type { FactKind } from "./facts/fact.ts";
export { isJobEvent } from "./facts/job-events.ts";
export { emptySession, foldEntries } from "./facts/journal-fold.ts";
export type { SessionState } from "./facts/session-state.ts";
export { pieceSize } from "./host/files.ts";
export { journalHost } from "./host/host-port.ts";
export type { MaybePromise } from "./host/journal.ts";
export { type MemoryJournal, type MemoryJournalOptions, memoryJournal } from "./host/memory-journal.ts";
export { memoryRecords } from "./host/memory-records.ts";
export type {
	ListRecords,
	RecordExpectation,
	RecordSpace,
	RecordWrite,
	StoredRecord,
} from "./host/records.ts";
export type { RunIndex, RunLocation } from "./host/run-index.ts";
export { readChildStoreKey } from "./host/session-key.ts";
export type { CommitResult, SessionStore, StoredSession } from "./host/session-store.ts";
export { taskKey } from "./subagents/task-key.ts";
