// Door of the journal: facts, the port, its in-memory twin, and hosts.
export { awaitedHost } from "./awaited-host.ts";
export { type ExecutionCapabilities, type Host, journalHost, memoryHost } from "./host.ts";
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
} from "./journal.ts";
export { memoryJournal } from "./memory.ts";
export { memoryRecords } from "./memory-records.ts";
export { type Clock, type Ids, type Ports, systemPorts, type Timers } from "./ports.ts";
export { numbered, onDraft, RecordDraft, type RecordSpace, type StoredRecord } from "./records.ts";
export {
	childPlace,
	childPrefix,
	keyOfPlace,
	readChildPlace,
	readPlace,
	sessionPlace,
} from "./session-key.ts";
export type { CommitResult, SessionStore, StoredSession } from "./session-store.ts";
export { memoryValues, type SessionValues, type ValueStore } from "./values.ts";
export { makeWatchers, type Watchers } from "./watchers.ts";
