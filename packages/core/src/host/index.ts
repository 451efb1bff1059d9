// Entry point of the journal: facts, the port, its in-memory implementation, and hosts.
export { awaitedHost, awaitedValues } from "./awaited-host.ts";
export {
	type Change,
	type ChangeLog,
	changesAtOnce,
	changesExpired,
	rememberedDeletions,
	watchAll,
} from "./changes.ts";
export { DueHeap } from "./due-heap.ts";
export {
	type FileInfo,
	type FileLimits,
	type FileStore,
	fileChanged,
	fileNotFound,
	fileTooLarge,
	pieceSize,
	piecesOf,
	rangeIn,
	type SessionFiles,
} from "./files.ts";
export type { ExecutionCapabilities, Host, SessionData } from "./host-port.ts";
export type {
	AcquireResult,
	Append,
	AppendResult,
	FirstValue,
	Input,
	Journal,
	Lease,
	ListOptions,
	MaybePromise,
	ReadChunks,
	ReadOptions,
	SessionHead,
	StoredInput,
} from "./journal.ts";
export { type Lifetime, systemWarn, type Warn } from "./lifetime.ts";
export { memoryHost } from "./memory-host.ts";
export { memoryRecords } from "./memory-records.ts";
export { type Clock, type EventLoop, type Ids, type Ports, systemPorts, type Timers } from "./ports.ts";
export { numbered, onDraft, RecordDraft, type RecordSpace, type StoredRecord } from "./records.ts";
export type { RunIndex, RunLocation } from "./run-index.ts";
export {
	childPrefix,
	childStoreKey,
	keysOf,
	namespaceOf,
	namespacePrefix,
	readChildStoreKey,
	readStoreKey,
	type SessionKeys,
	storeKeyOf,
} from "./session-key.ts";
export type { CommitResult, SessionStore, StoredSession } from "./session-store.ts";
export type { StoreStats } from "./store-stats.ts";
export {
	type ClaimedTimer,
	type ClaimOptions,
	claimAtOnce,
	claimLease,
	type Timer,
	type TimerStore,
} from "./timers.ts";
export { memoryValues, type SessionValues, setIfExists, type ValueStore } from "./values.ts";
export { makeWatchers } from "./watchers.ts";
export type { WorkQueue, WorkTaker } from "./work-queue.ts";
