// Entry `holdfast/session-store/file`: sessions as files of one folder, shared by the processes of one machine.
export { FileSessionStore } from "./file-session-store.ts";
export type { CommitResult, SessionStore, StoredSession } from "./session-store.ts";
