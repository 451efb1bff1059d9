// Door of the journal: facts, the port, its in-memory twin, and hosts.
export type * from "./fact.ts";
export { type Host, journalHost, memoryHost, type SessionStoreHost } from "./host.ts";
export type * from "./journal.ts";
export { type MemoryJournal, type MemoryJournalOptions, memoryJournal } from "./memory.ts";
export { type ExecutionHostAdapter, resolveHost } from "./resolve-host.ts";
export { type StoreJournalOptions, storeJournal } from "./store/store-journal.ts";
