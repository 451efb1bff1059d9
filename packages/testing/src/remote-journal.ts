// @holdfast/testing/remote-journal: a journal in a separate process, which tests can kill, stop and wake.
export { type RemoteJournal, startRemoteJournal } from "./remote-journal/journal-proxy.ts";
export { serveJournal } from "./remote-journal/serve-journal.ts";
