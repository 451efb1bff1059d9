// Entry `holdfast/session-store/file`: sessions as files of one folder, shared by the processes of one machine.

export type { CommitResult, SessionStore, StoredSession } from "../../host/session-store.ts";
export { FileSessionStore } from "./file-session-store.ts";
