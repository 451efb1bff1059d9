// @holdfast/testing/remote-journal: a journal in a process of its own, which a test kills, stops and wakes.
export { type RemoteJournal, startRemoteJournal } from "./remote-journal/journal-proxy.ts";
export { serveJournal } from "./remote-journal/serve-journal.ts";
