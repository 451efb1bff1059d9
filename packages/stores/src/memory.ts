// Entry `@holdfast/stores/memory`: sessions for as long as an object lives. It runs where there is no file system.
export type { CommitResult, SessionStore, StoredSession } from "holdfast/host";
export { MemorySessionStore } from "./session-store/memory-session-store.ts";
