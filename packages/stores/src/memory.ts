// Entry `@holdfast/stores/memory`: sessions that exist as long as an object does. It does not require a file system.
export type { CommitResult, SessionStore, StoredSession } from "holdfast/host";
export { MemorySessionStore } from "./session-store/memory-session-store.ts";
