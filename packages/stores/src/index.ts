// Entry `@holdfast/stores`: all simple stores, and the journal that agents use over a store with only three operations.
export type { CheckpointMetadata, CheckpointStore } from "holdfast/checkpoint";
export type { CommitResult, SessionStore, StoredSession } from "holdfast/host";
export {
	type FileCheckpointOptions,
	type FileCheckpoints,
	fileCheckpoints,
} from "./checkpoint/file-checkpoints.ts";
export { type StoreJournalOptions, storeJournal } from "./journal/store-journal.ts";
export { FileSessionStore } from "./session-store/file-session-store.ts";
export { MemorySessionStore } from "./session-store/memory-session-store.ts";
export { sessions } from "./session-store/sessions-plugin.ts";
export { storedValues } from "./values/stored-values.ts";
