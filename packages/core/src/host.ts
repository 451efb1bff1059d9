// Entry point `holdfast/host`: the parts of a host, for code that implements or inspects one. It contains the ports and
// their in-memory implementations, the storage of facts and their fold into a session's state, and the errors and rules
// that all journals share.
export { agentOfCheckpoint } from "./checkpoint/checkpoint-store.ts";
export { type CachedCall, type CachedInput, type CacheReport, cacheReportOf } from "./facts/cache-report.ts";
export { decodeFact, type EncodedFact, encodeFact } from "./facts/codec.ts";
export type { Committed } from "./facts/committed.ts";
export { readBounded } from "./facts/entry-pages.ts";
export type { Entry, ErrorData, Fact, FactKind, Placement, RunKind } from "./facts/fact.ts";
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
export type { CacheBreak, CacheBreakReason } from "./facts/sent-prefix.ts";
export type { SessionState } from "./facts/session-state.ts";
export { isSettledAt } from "./facts/settled-at.ts";
export {
	type Change,
	type ChangeLog,
	changesAtOnce,
	changesExpired,
	rememberedDeletions,
	type WatchAllOptions,
	watchAll,
} from "./host/changes.ts";
export {
	type FileInfo,
	type FileLimits,
	type FileSource,
	type FileStore,
	fileChanged,
	fileNotFound,
	fileTooLarge,
	pieceSize,
	piecesOf,
	rangeIn,
	type SessionFiles,
} from "./host/files.ts";
export { journalHost } from "./host/host-port.ts";
export type {
	AcquireResult,
	Append,
	AppendResult,
	Input,
	Journal,
	Lease,
	ListOptions,
	MaybePromise,
	ReadOptions,
	SessionHead,
	StoredInput,
} from "./host/journal.ts";
export type { Lifetime } from "./host/lifetime.ts";
export { type MemoryJournal, type MemoryJournalOptions, memoryJournal } from "./host/memory-journal.ts";
export { memoryRecords } from "./host/memory-records.ts";
export { type Clock, type EventLoop, type Ids, type Ports, systemPorts, type Timers } from "./host/ports.ts";
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
export { type ClaimedTimer, claimAtOnce, claimLease, type Timer, type TimerStore } from "./host/timers.ts";
export { makeWatchers, type Watchers } from "./host/watchers.ts";
export type { WorkQueue, WorkTaker } from "./host/work-queue.ts";
export { type FoldedHistory, type FoldHistoryOptions, foldHistory } from "./sessions/fold-history.ts";
export type { Recovery } from "./sessions/recovery.ts";
export { fromStored, toStored } from "./sqlite/stored-text.ts";
export { taskKey } from "./subagents/task-key.ts";
export { modelTools } from "./tools/model-tools.ts";
