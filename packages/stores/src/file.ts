// Entry `@holdfast/stores/file`: sessions as files in one folder, shared by the processes of one machine.
export type { CommitResult, SessionStore, StoredSession } from "holdfast/host";
export { FileSessionStore } from "./session-store/file-session-store.ts";
